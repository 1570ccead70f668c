/** What a translator needs to know about a message: its name, its state, where it is shown, what a reviewer said. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessageSquareQuote } from 'lucide-react';
import { membersQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Code } from '@/ui/bits';
import type { Message } from './queries';
import { StatusBadge } from './words';

export function About({ message }: { message: Message }) {
  const { t } = useLanguage();
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="min-w-0"><Code>{message.key}</Code></h2>
        <StatusBadge message={message} />
      </div>
      {message.about && <p data-raw className="text-muted">{message.about}</p>}
      {message.max_length !== null && <p className="text-sm text-muted">{t('localization.at_most', { n: message.max_length })}</p>}
      {message.screens.length > 0 && <Screens screens={message.screens} />}
      {message.pending && <Proposed message={message} />}
      {message.comment && (
        <p className="flex items-start gap-2 rounded-md bg-warning-soft px-3 py-2 text-warning">
          <MessageSquareQuote size={15} aria-hidden className="mt-0.5 shrink-0" />
          <span>{t('localization.reviewer_says')} <q data-raw className="wrap-anywhere">{message.comment}</q></span>
        </p>
      )}
      {message.problem && <p className="text-sm text-muted">{t('localization.draft_problem')} <Code>{message.problem}</Code></p>}
    </div>
  );
}

/** Screens whose address holds no name can be opened at once. */
function Screens({ screens }: { screens: string[] }) {
  const { t } = useLanguage();
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-muted">
      {t('localization.shown_on')}
      {screens.map((one) =>
        one.includes('$') ? (
          <Code key={one}>{one}</Code>
        ) : (
          <Link key={one} to={one} data-raw className="inline-flex h-6 items-center text-link hover:underline">{one}</Link>
        ),
      )}
    </p>
  );
}

export function Proposed({ message }: { message: Message }) {
  const { t, ago } = useLanguage();
  const members = useQuery(membersQuery);
  const { by, at } = message.pending!;
  const name = members.data?.find((one) => one.id === by)?.display_name;
  return (
    <p className="text-sm text-muted">
      {t('localization.proposed', { when: ago(at) })}
      {name && <span data-raw> · {name}</span>}
    </p>
  );
}
