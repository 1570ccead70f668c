/** Every language with how far it is, and what can be done about it. */
import { Link } from '@tanstack/react-router';
import { Download, Eraser, MoreHorizontal, Wand } from 'lucide-react';
import { useState } from 'react';
import { lazyDialog } from '@/app/lazy-dialog';
import { useMay } from '@/app/session';
import { languageName, useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Menu, MenuContent, MenuItem } from '@/ui/Overlay';
import { pathOf, searchOf } from './address';
import type { LocaleCoverage, Status } from './queries';
import { Language, shareOf, STATUSES } from './words';

const DiscardDialog = lazyDialog(() => import('./DiscardDialog'));
const DraftDialog = lazyDialog(() => import('./DraftDialog'));
const ExportDialog = lazyDialog(() => import('./ExportDialog'));

type Doing = { what: 'draft' | 'discard' | 'export'; coverage: LocaleCoverage } | null;

export function LocaleList({ locales, manages }: { locales: LocaleCoverage[]; manages: boolean }) {
  const { t } = useLanguage();
  const [doing, setDoing] = useState<Doing>(null);
  const close = () => setDoing(null);
  return (
    <section aria-label={t('localization.languages')} className="mb-8">
      <Card>
        <ul>
          {locales.map((one) => (
            <Row key={one.locale} coverage={one} onDo={manages ? (what) => setDoing({ what, coverage: one }) : undefined} />
          ))}
        </ul>
      </Card>
      {doing?.what === 'draft' && <DraftDialog coverage={doing.coverage} onClose={close} />}
      {doing?.what === 'discard' && <DiscardDialog coverage={doing.coverage} onClose={close} />}
      {doing?.what === 'export' && <ExportDialog locale={doing.coverage.locale} onClose={close} />}
    </section>
  );
}

interface RowProps {
  coverage: LocaleCoverage;
  onDo: ((what: NonNullable<Doing>['what']) => void) | undefined;
}

function Row({ coverage, onDo }: RowProps) {
  const { t } = useLanguage();
  const may = useMay();
  const { locale, pending } = coverage;
  return (
    <li
      data-testid="locale"
      data-locale={locale}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-0"
    >
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex flex-wrap items-baseline justify-between gap-x-3">
          <b className="font-semibold"><Language locale={locale} /></b>
          <span className="text-sm tnum">{t('localization.percent_approved', { n: shareOf(coverage) })}</span>
        </p>
        <Bar coverage={coverage} />
        <Words coverage={coverage} />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Link to={pathOf('desk')} search={searchOf({ locale, status: firstOpen(coverage) })} className={buttonClass('default', 'small')}>
          {t('localization.view_desk')}
          <span className="sr-only"> <Language locale={locale} /></span>
        </Link>
        {may('localization:review') && (
          <Link to={pathOf('review')} search={searchOf({ locale })} className={buttonClass('default', 'small', 'tnum')}>
            {t('localization.review_n', { n: pending })}
            <span className="sr-only"> <Language locale={locale} /></span>
          </Link>
        )}
        {onDo && <Actions coverage={coverage} onDo={onDo} />}
      </div>
    </li>
  );
}

/** What a translator begins with. */
const firstOpen = (coverage: LocaleCoverage): Status | undefined =>
  STATUSES.find((one) => one !== 'approved' && coverage[one] > 0);

function Actions({ coverage: { locale, missing, machine }, onDo }: { coverage: LocaleCoverage; onDo: NonNullable<RowProps['onDo']> }) {
  const { t } = useLanguage();
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        aria-label={t('localization.actions_for', { language: languageName(locale) })}
        className="grid size-8 place-items-center rounded-md text-muted hover:bg-raised hover:text-text"
      >
        <MoreHorizontal size={16} aria-hidden />
      </Menu.Trigger>
      <MenuContent align="end">
        <MenuItem disabled={missing === 0} onSelect={() => onDo('draft')}>
          <Wand size={15} aria-hidden />
          {t('localization.draft')}
        </MenuItem>
        <MenuItem disabled={machine === 0} onSelect={() => onDo('discard')}>
          <Eraser size={15} aria-hidden />
          {t('localization.discard')}
        </MenuItem>
        <MenuItem onSelect={() => onDo('export')}><Download size={15} aria-hidden />{t('localization.export')}</MenuItem>
      </MenuContent>
    </Menu.Root>
  );
}

const BARS: Record<Status, string> = { approved: 'bg-success', machine: 'bg-info', stale: 'bg-warning', missing: 'bg-raised' };

/** The words beside it say the same. */
function Bar({ coverage }: { coverage: LocaleCoverage }) {
  return (
    <div aria-hidden className="my-1.5 flex h-2 overflow-hidden rounded-full bg-raised">
      {[...STATUSES].reverse().map((one) => (
        <div key={one} className={`h-full ${BARS[one]}`} style={{ width: `${(100 * coverage[one]) / Math.max(1, coverage.total)}%` }} />
      ))}
    </div>
  );
}

function Words({ coverage }: { coverage: LocaleCoverage }) {
  const { t } = useLanguage();
  const open = STATUSES.filter((one) => one !== 'approved' && coverage[one] > 0);
  const words = [
    ...open.map((one) => t(`localization.n_${one as Exclude<Status, 'approved'>}`, { n: coverage[one] })),
    ...(coverage.pending > 0 ? [t('localization.n_pending', { n: coverage.pending })] : []),
  ];
  return <p className="text-sm text-muted tnum">{words.length ? words.join(' · ') : t('localization.complete')}</p>;
}
