/** What `atrium doctor` looks at, for operators; what was found and what to do are the server's own words. */
import { useQuery } from '@tanstack/react-query';
import { CircleCheckBig, RefreshCw, TriangleAlert } from 'lucide-react';
import { api, value, type Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';

type Check = Schemas['HealthCheck'];
const TONES = { ok: 'success', warn: 'warning', fail: 'danger' } as const;

const readChecks = async (): Promise<Check[]> => {
  const status = await value(api.GET('/api/admin/status', { params: { query: { checks: true } } }));
  return status.checks ?? [];
};

export default function Checkup() {
  const { t } = useLanguage();
  const checks = useQuery({ queryKey: ['checks'], queryFn: readChecks, staleTime: 0, gcTime: 0 });
  const ill = checks.data?.filter((check) => check.verdict !== 'ok').length ?? 0;
  return (
    <section aria-label={t('instance.checkup')}>
      <div className="mb-3 flex items-start gap-4">
        <div className="min-w-0 flex-1">
          <h2 className="text-lg font-semibold">{t('instance.checkup')}</h2>
          <p className="text-sm text-muted">{t('instance.checkup_lead')}</p>
        </div>
        <Button busy={checks.isFetching} onClick={() => void checks.refetch()}>
          {!checks.isFetching && <RefreshCw size={14} aria-hidden />}
          {t('ui.refresh')}
        </Button>
      </div>
      <Problem error={checks.error} onRetry={() => void checks.refetch()} />
      {checks.isPending && <Card><SkeletonRows rows={8} label={t('app.loading')} /></Card>}
      {checks.data && (
        <Card>
          <p role="status" className="border-b border-line px-4 py-3 font-medium">
            {ill === 0 ? t('instance.checkup_fine') : t('instance.checkup_ill', { n: ill })}
          </p>
          <ul>{checks.data.map((check) => <Line key={check.name} check={check} />)}</ul>
        </Card>
      )}
    </section>
  );
}

function Line({ check }: { check: Check }) {
  const { t } = useLanguage();
  const Icon = check.verdict === 'ok' ? CircleCheckBig : TriangleAlert;
  return (
    <li className="flex items-start gap-4 border-b border-line px-4 py-3 last:border-0">
      <div className="min-w-0 flex-1">
        <p className="font-medium">{t(`instance.check_${check.name}`)}</p>
        <p data-raw lang="en" className="text-sm break-words text-muted">{check.found}</p>
        {check.remedy !== '' && <p data-raw lang="en" className="mt-1 text-sm break-words">{check.remedy}</p>}
      </div>
      <Badge tone={TONES[check.verdict]}><Icon size={12} aria-hidden />{t(`instance.check_verdict_${check.verdict}`)}</Badge>
    </li>
  );
}
