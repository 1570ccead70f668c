import { FileX2, Hourglass, ScanText } from 'lucide-react';
import type { ObjectDetail } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { Empty } from '@/ui/Empty';

interface Props {
  text: ObjectDetail['text'];
  /** Characters to open at, as the server counts them: from and to. */
  place: readonly [number, number];
  /** Or what to open at, as the search showed it. */
  wanted: string;
}

/** What the server could read out of the file, as search will see it. */
export default function TextRead({ text: found, place, wanted }: Props) {
  const { t, number } = useLanguage();
  const { state, text = '', characters = 0, truncated = false } = found;
  if (state === 'none') return <Empty icon={ScanText} title={t('files.text_none')} body={t('files.text_none_body')} />;
  if (state === 'waiting' || state === 'running') {
    return <Empty icon={Hourglass} title={t('files.text_waiting')} body={t('files.text_waiting_body')} />;
  }
  if (state === 'failed') return <Empty icon={FileX2} title={t('files.text_failed')} body={t('files.text_failed_body')} />;
  const cut = truncated || characters > text.length;
  return (
    <>
      <p className="border-b border-line px-5 py-3 text-sm text-muted">
        {t('files.text_count', { n: number(characters) })}
        {cut && ` ${t('files.text_cut', { n: number(text.length) })}`}
      </p>
      <pre data-raw tabIndex={0} className="max-h-[70vh] overflow-auto p-5 font-sans whitespace-pre-wrap break-words -outline-offset-2">
        <Text text={text} place={wanted ? placeOf(wanted, text) : place} />
      </pre>
    </>
  );
}

/** Where in a text a piece of a snippet stands: a snippet has one space for every blank and every invisible character. */
export function placeOf(wanted: string, text: string): Props['place'] {
  const plain = (one: string) => one.normalize('NFC').replace(/[\s\p{Cc}\p{Cf}]/gu, ' ');
  const shown = plain(text);
  const start = shown.indexOf(plain(wanted));
  if (start < 0) return [-1, -1];
  const from = [...shown.slice(0, start)].length;
  return [from, from + [...wanted].length];
}

/** The text; a quote in it is marked and scrolled to. */
function Text({ text, place: [from, to] }: { text: string; place: Props['place'] }) {
  const characters = from >= 0 && to > from ? [...text.normalize('NFC')] : [];
  if (characters.length < to || characters.length === 0) return text;
  const part = (start: number, end?: number) => characters.slice(start, end).join('');
  return (
    <>
      {part(0, from)}
      <mark ref={scrollTo}>{part(from, to)}</mark>
      {part(to)}
    </>
  );
}

function scrollTo(mark: HTMLElement | null) {
  mark?.scrollIntoView({ block: 'center' });
}
