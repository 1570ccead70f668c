/** What a tool made: a card that says what it is and leads to it. */
import { Link } from '@tanstack/react-router';
import { ExternalLink, FileText, Image, Package, Table2, type LucideIcon } from 'lucide-react';
import { useId } from 'react';
import { useLanguage } from '@/i18n/language';
import { Badge } from './bits';
import { pathOf, refIn, type Ref } from './refs';

/** As tools report it; a kind that no icon stands for is still a kind. */
export interface ArtifactFacts {
  kind: string;
  title: string;
  summary?: string | null;
  content_type?: string | null;
  /** The file it was written to, when it was. */
  object_id?: string | null;
  /** What its card opens; of an earlier one that is its file. */
  ref?: Ref | null;
}

const ICONS: [RegExp, LucideIcon][] = [
  [/^image/, Image],
  [/^table|csv|spreadsheet/, Table2],
  [/^(text|document|markdown|file)/, FileText],
];

const iconOf = ({ kind, content_type }: ArtifactFacts): LucideIcon =>
  ICONS.find(([pattern]) => pattern.test(kind) || pattern.test(content_type ?? ''))?.[1] ?? Package;

export function Artifact({ artifact }: { artifact: ArtifactFacts }) {
  const { t } = useLanguage();
  const id = useId();
  const { kind, title, summary, content_type: type, object_id: object } = artifact;
  const ref = refIn(artifact.ref) ?? (object ? { kind: 'object', id: object } : null);
  const Icon = iconOf(artifact);
  return (
    <article data-testid="artifact" aria-labelledby={id} className="flex items-start gap-3 rounded-lg border border-line bg-surface p-4">
      <span className="grid size-9 shrink-0 place-items-center rounded-lg bg-raised text-muted"><Icon size={17} aria-hidden /></span>
      <div className="min-w-0 flex-1">
        <h2 id={id} data-raw className="font-medium break-words">{title}</h2>
        {summary && <p data-raw className="mt-0.5 text-sm break-words text-muted">{summary}</p>}
        <p data-raw className="mt-2 flex flex-wrap gap-1.5"><Badge>{kind}</Badge>{type && <Badge>{type}</Badge>}</p>
      </div>
      {ref && (
        <Link
          to={pathOf(ref)!}
          params={{ id: ref.id }}
          className="flex h-8 items-center gap-1.5 text-sm font-medium text-link hover:underline"
        >
          <ExternalLink size={14} aria-hidden />
          {t(ref.kind === 'object' ? 'ui.open_file' : 'ui.open')}
        </Link>
      )}
    </article>
  );
}
