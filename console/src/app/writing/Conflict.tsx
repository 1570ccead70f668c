/** Two people saved the same text: both texts are here, and the result is what this person decides. */
import { GitMerge, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '../lazily';
import { useTitle } from '../title';
import { Button } from '@/ui/Button';
import { Card } from '@/ui/bits';
import { TextField } from '@/ui/Field';
import type { Snapshot, Text, Written } from './autosave';
import { marked, merged } from './merge';

const MarkdownEditor = lazyPart(() => import('@/ui/MarkdownEditor'), <div className="h-40" />);
type Start = 'both' | 'mine' | 'theirs';

export function Conflict<Kept extends Written>({
  snapshot,
  theirs,
  onResolve,
}: {
  snapshot: Snapshot<Kept>;
  theirs: Kept;
  onResolve: (text: Text) => void;
}) {
  const { t } = useLanguage();
  useTitle(t('writing.conflict_title'));
  const { text: mine, base } = snapshot;
  const starts: Record<Start, string> = { both: merged(base.body, mine.body, theirs.body), mine: mine.body, theirs: theirs.body };
  const [start, setStart] = useState<Start>('both');
  const [body, setBody] = useState(starts.both);
  const [title, setTitle] = useState(mine.title === base.title ? theirs.title : mine.title);
  const begin = (from: Start) => {
    setStart(from);
    setBody(starts[from]);
  };
  return (
    <article className="mx-auto max-w-5xl px-4 py-6 sm:px-8 lg:py-8">
      <div role="alert" className="flex items-start gap-3 rounded-xl border border-warning/30 bg-warning-soft p-4 text-warning">
        <TriangleAlert size={18} className="mt-0.5 shrink-0" aria-hidden />
        <div>
          <h1 className="font-semibold">{t('writing.conflict_title')}</h1>
          <p className="mt-0.5 text-sm">{t('writing.conflict_body')}</p>
        </div>
      </div>
      <div className="mt-5 grid gap-4 md:grid-cols-2">
        <Version heading={t('writing.conflict_mine')} title={mine.title} text={mine.body} other={theirs.body} />
        <Version heading={t('writing.conflict_theirs')} title={theirs.title} text={theirs.body} other={mine.body} />
      </div>
      <Card className="mt-5 p-5">
        <div className="mb-4 flex flex-wrap items-center gap-2">
          <h2 className="flex flex-1 items-center gap-2 text-lg font-semibold">
            <GitMerge size={17} aria-hidden />
            {t('writing.conflict_result')}
          </h2>
          <div role="group" aria-label={t('writing.conflict_start')} className="flex flex-wrap gap-1.5">
            {(['both', 'mine', 'theirs'] as const).map((from) => (
              <Button
                key={from}
                size="small"
                aria-pressed={start === from}
                kind={start === from ? 'default' : 'ghost'}
                onClick={() => begin(from)}
              >
                {t(`writing.conflict_from_${from}`)}
              </Button>
            ))}
          </div>
        </div>
        <TextField label={t('writing.title_field')} value={title} maxLength={300} onChange={(event) => setTitle(event.target.value)} />
        <div className="mt-4 rounded-lg border border-line-strong px-3">
          <MarkdownEditor key={start} value={starts[start]} onChange={setBody} label={t('writing.conflict_result')} />
        </div>
        <div className="mt-4 flex justify-end">
          <Button kind="primary" disabled={!title.trim()} onClick={() => onResolve({ title, body })}>
            {t('writing.conflict_save')}
          </Button>
        </div>
      </Card>
    </article>
  );
}

function Version({ heading, title, text, other }: { heading: string; title: string; text: string; other: string }) {
  return (
    <Card className="overflow-hidden">
      <h2 className="border-b border-line bg-raised px-4 py-2 text-sm font-semibold">{heading}</h2>
      <div data-raw className="max-h-72 overflow-auto p-4" tabIndex={0} role="region" aria-label={heading}>
        <p className="mb-2 font-semibold">{title}</p>
        {marked(text, other).map(({ line, fresh }, index) => (
          <p
            key={index}
            className={`min-h-5 font-mono text-sm break-words whitespace-pre-wrap ${fresh ? 'bg-accent-soft text-text' : 'text-muted'}`}
          >
            {line}
          </p>
        ))}
      </div>
    </Card>
  );
}
