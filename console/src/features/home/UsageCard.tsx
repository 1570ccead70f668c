/** The fullest meters of the team and its company; where nothing is limited, a quiet word. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, Gauge } from 'lucide-react';
import { usageQuery, type Usage } from '@/api/companies';
import { useLanguage } from '@/i18n/language';
import { Card, SkeletonRows } from '@/ui/bits';
import { dimensionKey, Meter } from '@/ui/Meter';
import { takenOf } from '@/ui/meter';

const SHOWN = 3;
const share = (line: Usage) => takenOf(line) / Math.max(1, line.limit ?? Infinity);

export default function UsageCard() {
  const { t } = useLanguage();
  const usage = useQuery(usageQuery);
  if (usage.error) return null;
  const limited = (usage.data ?? []).filter((line) => line.limit !== null).sort((one, other) => share(other) - share(one));
  return (
    <Card>
      <div className="flex items-center gap-2 px-5 pt-4 pb-2">
        <Gauge size={16} className="text-muted" aria-hidden />
        <h2 className="flex-1 text-lg font-semibold">{t('nav.usage')}</h2>
        <Link to="/settings/usage" className="flex h-7 items-center gap-1 text-sm font-medium text-link hover:underline">
          {t('home.all_usage')}
          <ArrowRight size={14} aria-hidden className="rtl:rotate-180" />
        </Link>
      </div>
      {usage.isPending && <SkeletonRows rows={1} label={t('app.loading')} />}
      {usage.data && limited.length === 0 && <p className="px-5 pb-5 text-muted">{t('usage.nothing_limited')}</p>}
      <ul className="px-5 pb-2">
        {limited.slice(0, SHOWN).map((line) => (
          <li key={line.level + line.dimension + line.window} className="pb-3">
            <h3 className="flex items-baseline gap-1.5 text-sm text-muted">
              {t(dimensionKey(line.dimension))}
              <span data-raw>·</span>
              {t(line.level === 'team' ? 'usage.of_team' : 'usage.of_company')}
            </h3>
            <Meter line={line} label={t(dimensionKey(line.dimension))} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
