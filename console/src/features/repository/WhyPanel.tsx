/** "Why can they see this?", answered for anybody in the team. */
import { useQuery } from '@tanstack/react-query';
import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { membersQuery } from '@/api/queries';
import type { ObjectDetail } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { useIdentity } from '@/app/session';
import { SelectField } from '@/ui/Field';
import { reasonsFor, seesIt, type Grant, type Reason } from './why';

export function WhyPanel({ file, grants }: { file: ObjectDetail; grants: Grant[] }) {
  const { t } = useLanguage();
  const { org } = useIdentity();
  const members = useQuery(membersQuery);
  const [asked, setAsked] = useState('');
  const person = members.data?.find((member) => member.id === asked);
  const reasons = person ? reasonsFor(person, file, grants, org.id) : [];
  const sees = seesIt(reasons);
  const Icon = sees ? Eye : EyeOff;
  return (
    <details className="mt-4 border-t border-line pt-3">
      <summary className="flex h-8 items-center gap-2 text-sm font-semibold">{t('files.why')}</summary>
      <div className="mt-2 grid gap-3">
        <SelectField label={t('files.why_who')} value={asked} onChange={(event) => setAsked(event.target.value)}>
          <option value="">{t('files.share_choose')}</option>
          {members.data?.map((member) => <option key={member.id} value={member.id} data-raw>{member.display_name}</option>)}
        </SelectField>
        {person && (
          <div role="status" data-testid="why" className="rounded-lg bg-raised p-3">
            <p className="flex items-center gap-2 font-medium">
              <Icon size={16} aria-hidden className="shrink-0 text-muted" />
              {t(sees ? 'files.why_yes' : 'files.why_no', { name: person.display_name })}
            </p>
            <ul className="mt-1.5 grid list-disc gap-1 ps-6 text-sm text-muted">
              {reasons.map((reason, at) => <li key={at}><Because reason={reason} /></li>)}
              {reasons.length === 0 && <li>{t('files.why_nothing')}</li>}
            </ul>
          </div>
        )}
      </div>
    </details>
  );
}

function Because({ reason }: { reason: Reason }) {
  const { t, ago } = useLanguage();
  if (reason.why === 'owner' || reason.why === 'their_team' || reason.why === 'company_role') return t(`files.because_${reason.why}`);
  const { grant } = reason;
  if (reason.why === 'ended') return t('files.because_ended', { when: ago(grant.expires_at ?? grant.created_at) });
  const share = t(`files.because_${grant.principal_type}`, { level: t(`files.can_${grant.capability}`) });
  return grant.expires_at ? `${share} ${t('files.because_until', { when: ago(grant.expires_at) })}` : share;
}
