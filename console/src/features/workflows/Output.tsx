/** What a step was given or made: what tools made as cards, everything else as JSON. */
import { useLanguage } from '@/i18n/language';
import { Artifact, type ArtifactFacts } from '@/ui/Artifact';
import { refIn } from '@/ui/refs';
import { CopyButton } from '@/ui/Secret';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const isArtifact = (value: unknown): value is ArtifactFacts & Record<string, unknown> =>
  isObject(value) && typeof value.kind === 'string' && typeof value.title === 'string';

const KNOWN = ['kind', 'title', 'summary', 'content_type', 'object_id', 'version_id', 'ref'];

/** The artifacts in what a step made: its result, or one of each item of a map. */
export function artifactsIn(output: unknown): ArtifactFacts[] {
  if (!isObject(output)) return [];
  const results = Array.isArray(output.results) ? (output.results as unknown[]) : [output.result];
  return results.map((one) => (isObject(one) && !isArtifact(one) && 'result' in one ? one.result : one)).filter(isArtifact).map(plain);
}

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const plain = (one: Record<string, unknown>): ArtifactFacts => ({
  kind: String(one.kind),
  title: String(one.title),
  summary: textIn(one.summary),
  content_type: textIn(one.content_type),
  object_id: textIn(one.object_id),
  ref: refIn(one.ref),
});

/** Whether an artifact says nothing that its card does not. */
const isBare = (value: unknown): boolean => isArtifact(value) && Object.keys(value).every((name) => KNOWN.includes(name));

export function Output({ output }: { output: unknown }) {
  const { t } = useLanguage();
  const artifacts = artifactsIn(output);
  const whole = artifacts.length === 1 && isObject(output) && isBare(output.result);
  return (
    <section className="grid gap-2">
      <h3 className="text-sm font-medium text-muted">{t('runs.output')}</h3>
      {artifacts.map((one, at) => <Artifact key={at} artifact={one} />)}
      {!whole && <Json content={output} label={t('runs.output')} />}
    </section>
  );
}

/** JSON for reading, no longer than what a browser draws at once. */
const MOST = 100_000;

export function Json({ content, label }: { content: unknown; label: string }) {
  const { t, number } = useLanguage();
  const text = JSON.stringify(content, null, 2) ?? 'null';
  return (
    <div className="relative">
      <div className="absolute end-2 top-2"><CopyButton text={text} /></div>
      <pre
        data-raw
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-72 min-h-11 overflow-auto rounded-lg bg-raised p-3 pe-24 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
      >
        {text.slice(0, MOST)}
      </pre>
      {text.length > MOST && <p className="mt-1 text-sm text-muted">{t('runs.cut', { n: number(MOST) })}</p>}
    </div>
  );
}
