/** Parts of the console × languages: how much is approved, as colour, as a number and in words; each cell leads to its messages. */
import { Link } from '@tanstack/react-router';
import clsx from 'clsx';
import { useMemo } from 'react';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { pathOf, searchOf } from './address';
import type { Counts, LocaleCoverage } from './queries';
import { Language, shareOf, stateOf } from './words';

/** From what is done to what is not begun. */
const HEAT: [number, string][] = [
  [100, 'bg-success-soft'],
  [75, 'bg-info-soft'],
  [1, 'bg-warning-soft'],
  [0, 'bg-danger-soft'],
];
const heatOf = (share: number): string => HEAT.find(([from]) => share >= from)![1];

export function CoverageTable({ locales }: { locales: LocaleCoverage[] }) {
  const { t } = useLanguage();
  const rows = useMemo(() => rowsOf(locales), [locales]);
  return (
    <div>
      <h2 id="parts" className="mb-1 font-semibold">{t('localization.parts')}</h2>
      <p className="mb-3 max-w-2xl text-sm text-muted">{t('localization.parts_lead')}</p>
      <Card className="overflow-hidden">
        <div role="region" aria-labelledby="parts" tabIndex={0} className="overflow-x-auto -outline-offset-2">
          <table className="w-full text-start">
            <thead>
              <tr className="border-b border-line text-sm text-muted">
                <th scope="col" className="sticky start-0 bg-surface px-4 py-2.5 text-start font-medium">{t('localization.part')}</th>
                {locales.map(({ locale }) => (
                  <th key={locale} scope="col" className="px-2 py-2.5 text-start font-medium"><Language locale={locale} /></th>
                ))}
              </tr>
            </thead>
            <tbody>{rows.map(([ns, cells]) => <Row key={ns} ns={ns} cells={cells} />)}</tbody>
          </table>
        </div>
      </Card>
    </div>
  );
}

type Cells = [locale: string, counts: Counts | undefined][];

/** By part, each with every language. */
function rowsOf(locales: LocaleCoverage[]): [string, Cells][] {
  const names = [...new Set(locales.flatMap((one) => one.namespaces.map(({ ns }) => ns)))].sort();
  const found = new Map(locales.map((one) => [one.locale, new Map(one.namespaces.map((part) => [part.ns, part]))]));
  return names.map((ns) => [ns, locales.map(({ locale }) => [locale, found.get(locale)?.get(ns)])]);
}

function Row({ ns, cells }: { ns: string; cells: Cells }) {
  const { t } = useLanguage();
  return (
    <tr className="border-b border-line last:border-0">
      <th scope="row" className="sticky start-0 max-w-28 bg-surface px-4 py-1.5 text-start font-medium sm:max-w-none">
        <span data-raw className="wrap-anywhere">{ns}</span>
        <span className="block text-xs font-normal text-muted tnum">
          {t('localization.n_messages', { n: cells.find(([, counts]) => counts)?.[1]?.total ?? 0 })}
        </span>
      </th>
      {cells.map(([locale, counts]) => (
        <td key={locale} className="min-w-28 p-1">{counts && <Cell locale={locale} ns={ns} counts={counts} />}</td>
      ))}
    </tr>
  );
}

function Cell({ locale, ns, counts }: { locale: string; ns: string; counts: Counts }) {
  const { t } = useLanguage();
  const [share, state] = [shareOf(counts), stateOf(counts)];
  const words = state === 'approved' ? t('localization.complete') : t(`localization.n_${state}`, { n: counts[state] });
  return (
    <Link
      data-testid="cell"
      to={pathOf('desk')}
      search={searchOf({ locale, ns, status: state === 'approved' ? undefined : state })}
      className={clsx('block rounded-md px-2 py-1 tnum hover:underline', heatOf(share))}
    >
      <b className="block font-semibold">{t('localization.percent', { n: share })}</b>
      <span className="block text-sm">{words}</span>
      {counts.pending > 0 && <span className="block text-sm">{t('localization.n_pending', { n: counts.pending })}</span>}
    </Link>
  );
}
