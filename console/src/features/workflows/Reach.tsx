/** What the steps of a version may do: told before the first start of somebody else's, and where a trigger may send something elsewhere. */
import { useQuery } from '@tanstack/react-query';
import { membersQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Code } from '@/ui/bits';
import { EffectBadge } from '@/ui/Effect';
import type { Definition } from './shapes';

/** Whether a person is to look at a version before they start it: not at their own, nor at what comes with a plugin. */
export const isToReview = ({ source, created_by, accepted }: Definition, user_id: string): boolean =>
  source === 'team' && created_by !== user_id && !accepted;

/** What a member of the team is called; undefined while that is read, null when they have left. */
export function useMemberName(id: string | null): string | null | undefined {
  const members = useQuery(membersQuery);
  const found = members.data?.find((member) => member.id === id);
  return found ? found.display_name || found.username : members.data && null;
}

export function Reach({ workflow, lead }: { workflow: Definition; lead?: string }) {
  const { t } = useLanguage();
  const { reach, created_by } = workflow;
  const who = useMemberName(created_by);
  return (
    <section data-testid="reach" aria-label={t('workflows.reach_title')} className="grid gap-2 rounded-lg border border-line p-3">
      <h2 className="font-medium">{t('workflows.reach_title')}</h2>
      <p className="text-sm text-muted">{lead ?? (who ? t('workflows.reach_lead', { who }) : t('workflows.reach_lead_unknown'))}</p>
      <ul className="grid gap-1.5">
        {reach.tools.map(({ name, effect }) => (
          <li key={name} className="flex flex-wrap items-center gap-2">
            <Code>{name}</Code>
            {effect ? <EffectBadge effect={effect} /> : <span className="text-sm text-muted">{t('workflows.reach_gone')}</span>}
          </li>
        ))}
      </ul>
      {reach.egress && <p className="text-sm">{t('workflows.reach_egress')}</p>}
    </section>
  );
}
