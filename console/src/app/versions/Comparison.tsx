/** Two versions of a text, line by line. */
import { useQueries } from '@tanstack/react-query';
import clsx from 'clsx';
import { useMemo } from 'react';
import { SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { SelectField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { useLanguage } from '@/i18n/language';
import { linesBetween, type Line } from './lines';
import type { Past, Texts } from './past';

const MOST = 1_000_000;

interface Props {
  texts: Texts;
  versions: Past[];
  pair: [number, number];
  onPair: (pair: [number, number]) => void;
  onClose: () => void;
}

export default function Comparison({ texts, versions, pair, onPair, onClose }: Props) {
  const { t } = useLanguage();
  const [before, after] = pair;
  const choices = versions.map((version) => (
    <option key={version.number} value={version.number}>{t('versions.version', { n: version.number })}</option>
  ));
  const large = versions.some((version) => pair.includes(version.number) && version.size > MOST);
  return (
    <Dialog open wide onClose={onClose} title={t('versions.compare_title')}>
      <div className="mb-4 grid gap-3 sm:grid-cols-2">
        <SelectField label={t('versions.before')} value={before} onChange={(event) => onPair([Number(event.target.value), after])}>
          {choices}
        </SelectField>
        <SelectField label={t('versions.after')} value={after} onChange={(event) => onPair([before, Number(event.target.value)])}>
          {choices}
        </SelectField>
      </div>
      {large ? <p className="text-muted">{t('versions.too_large')}</p> : <Lines texts={texts} pair={pair} />}
      <DialogActions><Button kind="primary" onClick={onClose}>{t('ui.done')}</Button></DialogActions>
    </Dialog>
  );
}

function Lines({ texts, pair }: { texts: Texts; pair: [number, number] }) {
  const { t } = useLanguage();
  const [before, after] = useQueries({
    queries: pair.map((number) => ({ queryKey: [...texts.key, 'text', number], queryFn: () => texts.read(number), staleTime: Infinity })),
  });
  const [one, other] = [before?.data, after?.data];
  const lines = useMemo(() => (one === undefined || other === undefined ? null : linesBetween(one, other)), [one, other]);
  if (before?.error || after?.error) {
    return (
      <Problem
        error={before?.error ?? after?.error}
        onRetry={() => {
          void before?.refetch();
          void after?.refetch();
        }}
      />
    );
  }
  if (!lines) return <SkeletonRows label={t('app.loading')} />;
  if (lines.every((line) => line.kind === 'same')) return <p className="text-muted">{t('versions.no_difference')}</p>;
  return <LineTable label={t('versions.compare_title')} lines={lines} />;
}

/** Lines that changed, with a sign that is read out. */
export function LineTable({ label, lines }: { label: string; lines: Line[] }) {
  return (
    <div
      role="region"
      aria-label={label}
      tabIndex={0}
      className="max-h-[55vh] overflow-auto rounded-lg border border-line font-mono text-sm"
    >
      <table className="w-full">
        <tbody data-raw>{lines.map((line, at) => <LineRow key={at} line={line} />)}</tbody>
      </table>
    </div>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '−', skipped: '⋯' } as const;

function LineRow({ line }: { line: Line }) {
  const { t } = useLanguage();
  const spoken = line.kind === 'added' || line.kind === 'removed' ? t(`versions.line_${line.kind}`) : null;
  return (
    <tr
      data-line={line.kind}
      className={clsx({ added: 'bg-success-soft', removed: 'bg-danger-soft', same: '', skipped: 'bg-raised' }[line.kind])}
    >
      <td className="w-10 px-2 text-end text-xs text-muted tnum select-none">{line.before}</td>
      <td className="w-10 px-2 text-end text-xs text-muted tnum select-none">{line.after}</td>
      <td
        className={clsx('w-5 text-center select-none', line.kind === 'added' && 'text-success', line.kind === 'removed' && 'text-danger')}
      >
        <span aria-hidden>{SIGNS[line.kind]}</span>
        {spoken && <span className="sr-only">{spoken}</span>}
      </td>
      <td className="px-2 break-words whitespace-pre-wrap">{line.text}</td>
    </tr>
  );
}
