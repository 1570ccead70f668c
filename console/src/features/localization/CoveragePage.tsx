/** How far each language is, in all and part by part; imports and exports start here. */
import { useQuery } from '@tanstack/react-query';
import { Languages, Import } from 'lucide-react';
import { useState } from 'react';
import { lazyDialog } from '@/app/lazy-dialog';
import { Page } from '@/app/Page';
import { useMay, useReadOnly } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { useAddress } from './address';
import { CoverageTable } from './CoverageTable';
import { DraftNews } from './DraftNews';
import { ImportNews } from './ImportNews';
import { LocaleList } from './LocaleList';
import { coverageQuery } from './queries';
import { Views } from './Views';

const ImportDialog = lazyDialog(() => import('./ImportDialog'));

export default function CoveragePage() {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const [{ job }, change] = useAddress('coverage');
  const [importing, setImporting] = useState(false);
  const manages = may('localization:manage') && !readOnly;
  const importButton = manages && (
    <Button onClick={() => setImporting(true)}>
      <Import size={15} aria-hidden />
      {t('localization.import')}
    </Button>
  );
  return (
    <Page title={t('nav.translations')} description={t('localization.lead')} actions={importButton}>
      <Views here="coverage" />
      {job && <ImportNews id={job} onClose={() => change({ job: undefined })} />}
      {manages && <DraftNews />}
      <Found manages={manages} />
      {importing && (
        <ImportDialog
          onClose={() => setImporting(false)}
          onStarted={(id) => {
            setImporting(false);
            change({ job: id });
          }}
        />
      )}
    </Page>
  );
}

function Found({ manages }: { manages: boolean }) {
  const { t } = useLanguage();
  const coverage = useQuery(coverageQuery);
  if (coverage.error) return <Problem error={coverage.error} onRetry={() => void coverage.refetch()} />;
  if (!coverage.data) return <Card><SkeletonRows label={t('app.loading')} /></Card>;
  if (coverage.data.length === 0) {
    return <Card><Empty icon={Languages} title={t('localization.none_title')} body={t('localization.none_body')} /></Card>;
  }
  return (
    <>
      <LocaleList locales={coverage.data} manages={manages} />
      <CoverageTable locales={coverage.data} />
    </>
  );
}
