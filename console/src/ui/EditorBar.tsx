/** The marks of Markdown as buttons, and the way to the source. One stop for Tab; the arrows go from button to button. */
import clsx from 'clsx';
import { Bold, Code, CodeXml, Heading, Italic, Logs, Link2, SquareCheck, Table, type LucideIcon } from 'lucide-react';
import { useState, type KeyboardEvent, type MouseEvent } from 'react';
import { useLanguage } from '@/i18n/language';
import { MARKINGS, type Marking } from './marking';
import { IconButton } from './Overlay';

const ICONS: Record<Marking, LucideIcon> = {
  bold: Bold,
  italic: Italic,
  heading: Heading,
  list: Logs,
  task: SquareCheck,
  link: Link2,
  code: Code,
  table: Table,
};
/** The selection stays in the text. */
const stay = (event: MouseEvent) => event.preventDefault();

interface Props {
  source: boolean;
  onTurn: () => void;
  onMark: (name: Marking) => void;
}

export function EditorBar({ source, onTurn, onMark }: Props) {
  const { t } = useLanguage();
  const [stop, setStop] = useState(0);
  const walk = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const forward = getComputedStyle(event.currentTarget).direction === 'rtl' ? -step : step;
    const next = (stop + forward + buttons.length) % buttons.length;
    setStop(next);
    buttons[next]!.focus();
  };
  const place = (at: number) => ({ tabIndex: at === stop ? 0 : -1, onFocus: () => setStop(at) });
  return (
    <div
      role="toolbar"
      aria-label={t('writing.toolbar')}
      onKeyDown={walk}
      className="sticky top-26 z-10 -mx-2 mb-2 flex min-h-10 flex-wrap items-center gap-0.5 bg-surface md:top-13"
    >
      {MARKINGS.map((name, at) => {
        const Icon = ICONS[name];
        return (
          <IconButton key={name} label={t(`writing.mark_${name}`)} {...place(at)} onMouseDown={stay} onClick={() => onMark(name)}>
            <Icon size={16} aria-hidden />
          </IconButton>
        );
      })}
      <IconButton
        label={t('writing.source')}
        {...place(MARKINGS.length)}
        aria-pressed={source}
        aria-keyshortcuts="Control+/"
        onMouseDown={stay}
        onClick={onTurn}
        className={clsx('ms-auto', source && 'bg-raised text-text')}
      >
        <CodeXml size={16} aria-hidden />
      </IconButton>
    </div>
  );
}
