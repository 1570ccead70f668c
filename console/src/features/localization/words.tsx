/** How states look and what they are called. */
import { CircleAlert, CircleCheckBig, CircleDotDashed, History, Wand, type LucideIcon } from 'lucide-react';
import { languageName, useLanguage } from '@/i18n/language';
import { Badge, type Tone } from '@/ui/bits';
import type { Counts, Message, Status } from './queries';

const LOOKS: Record<Status, [LucideIcon, Tone]> = {
  approved: [CircleCheckBig, 'success'],
  machine: [Wand, 'info'],
  stale: [History, 'warning'],
  missing: [CircleDotDashed, 'danger'],
};

/** The worst first. */
export const STATUSES: Status[] = ['missing', 'stale', 'machine', 'approved'];

/** Where a language, or a part of it, stands: the worst that is there. */
export const stateOf = (counts: Counts): Status => STATUSES.find((one) => counts[one] > 0) ?? 'approved';

/** Whole percents, and 100 only when nothing is left. */
export const shareOf = ({ total, approved }: Counts): number => (total === 0 ? 100 : Math.floor((100 * approved) / total));

export function StatusBadge({ message }: { message: Message }) {
  const { t } = useLanguage();
  const [Icon, tone] = LOOKS[message.status];
  return (
    <span className="flex flex-wrap gap-1.5">
      <Badge tone={tone}><Icon size={12} aria-hidden />{t(`localization.status_${message.status}`)}</Badge>
      {message.pending && <Badge tone="accent"><CircleAlert size={12} aria-hidden />{t('localization.status_pending')}</Badge>}
    </span>
  );
}

/** A language in its own words, read out in its own sound. */
export const Language = ({ locale }: { locale: string }) => <span data-raw lang={locale}>{languageName(locale)}</span>;
