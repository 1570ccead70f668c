/** Which messages are listed. */
import { useQuery } from '@tanstack/react-query';
import { FindField } from '@/app/FindField';
import { languageName, useLanguage } from '@/i18n/language';
import type { Change } from './address';
import { coverageQuery, type Shown, type Wanted } from './queries';
import { STATUSES } from './words';

export function Filters({ wanted, change }: { wanted: Wanted; change: (change: Change) => void }) {
  const { t } = useLanguage();
  const coverage = useQuery(coverageQuery);
  const parts = coverage.data?.find(({ locale }) => locale === wanted.locale)?.namespaces ?? [];
  return (
    <div role="search" className="mb-4 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      <LocaleSelect value={wanted.locale} onChange={(locale) => change({ locale, ns: undefined })} />
      <select
        aria-label={t('localization.state')}
        className="field pe-8 sm:w-40"
        value={wanted.status ?? ''}
        onChange={(event) => change({ status: (event.target.value || undefined) as Shown | undefined })}
      >
        <option value="">{t('localization.every_state')}</option>
        {([...STATUSES, 'pending'] as Shown[]).map((one) => <option key={one} value={one}>{t(`localization.status_${one}`)}</option>)}
      </select>
      <select
        aria-label={t('localization.part')}
        className="field pe-8 sm:w-40"
        value={wanted.ns ?? ''}
        onChange={(event) => change({ ns: event.target.value || undefined })}
      >
        <option value="">{t('localization.every_part')}</option>
        {parts.map(({ ns }) => <option key={ns} value={ns} data-raw>{ns}</option>)}
      </select>
      <FindField
        q={wanted.q ?? ''}
        label={t('localization.search')}
        shortcut="localization.search"
        className="sm:flex-1 sm:basis-40"
        onFind={(q) => change({ q: q || undefined })}
      />
    </div>
  );
}

export function LocaleSelect({ value, onChange }: { value: string; onChange: (locale: string) => void }) {
  const { t } = useLanguage();
  const coverage = useQuery(coverageQuery);
  return (
    <select aria-label={t('ui.language')} className="field pe-8 sm:w-40" value={value} onChange={(event) => onChange(event.target.value)}>
      {coverage.data?.map(({ locale }) => <option key={locale} value={locale} lang={locale} data-raw>{languageName(locale)}</option>)}
    </select>
  );
}
