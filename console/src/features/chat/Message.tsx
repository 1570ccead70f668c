/** One message; a model's is Markdown, read block by block so that a long answer costs no more at its end than at its beginning. */
import clsx from 'clsx';
import { memo, useDeferredValue, useMemo, type ReactNode } from 'react';
import { lazyPart } from '@/app/lazily';
import { useLanguage } from '@/i18n/language';
import { blocksOf } from './blocks';
import { jsonIn } from './json';
import type { Usage } from './queries';

const Markdown = lazyPart(() => import('@/ui/Markdown'));
const Structured = lazyPart(() => import('./Structured'));
const Block = memo(function Block({ source }: { source: string }) {
  return <Markdown source={source} />;
});

interface Props {
  role: 'system' | 'user' | 'assistant';
  text: string;
  usage?: Usage | null | undefined;
  cut?: 'length' | 'stopped' | null;
  /** It is still being said. */
  growing?: boolean;
  children?: ReactNode;
}

export function Message({ role, text, usage, cut, growing = false, children }: Props) {
  const { t, number } = useLanguage();
  const mine = role !== 'assistant';
  return (
    <article
      data-testid="message"
      data-role={role}
      aria-label={t(mine ? 'chat.you' : 'chat.model')}
      className={clsx('min-w-0', mine && 'justify-self-end')}
    >
      {mine ? (
        <>
          <p data-raw className="max-w-prose rounded-xl bg-accent-soft px-4 py-2.5 break-words whitespace-pre-wrap">{text}</p>
          {children && <div className="mt-1.5 flex flex-wrap justify-end gap-1.5">{children}</div>}
        </>
      ) : (
        <Reply text={text} growing={growing} />
      )}
      {(usage || cut) && (
        <p className="mt-1 flex flex-wrap gap-x-3 text-xs text-muted tnum">
          {cut && <span>{t(cut === 'length' ? 'chat.cut_length' : 'chat.cut_stopped')}</span>}
          {usage && <span>{t(usage.exact ? 'chat.tokens' : 'chat.tokens_about', { n: number(usage.total_tokens) })}</span>}
        </p>
      )}
    </article>
  );
}

function Reply({ text, growing }: { text: string; growing: boolean }) {
  // Drawn in portions, between what is more urgent.
  const shown = useDeferredValue(text);
  const json = useMemo(() => (growing ? null : jsonIn(text)), [growing, text]);
  if (json) return <Structured value={json.value} />;
  return (
    <div data-raw className="prose addresses max-w-none break-words">
      {blocksOf(shown).map((source, at) => <Block key={at} source={source} />)}
    </div>
  );
}

/** What a model says to itself; folded once it answers. */
export function Thinking({ text, open }: { text: string; open: boolean }) {
  const { t } = useLanguage();
  return (
    <details open={open} className="rounded-lg border border-line bg-surface px-4 py-2 text-sm">
      <summary className="cursor-pointer font-medium text-muted">{t('chat.thinking')}</summary>
      <p data-raw className="mt-2 break-words whitespace-pre-wrap text-muted">{text}</p>
    </details>
  );
}
