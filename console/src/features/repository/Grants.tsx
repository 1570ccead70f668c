import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import clsx from 'clsx';
import { Crown, X } from 'lucide-react';
import { api, value } from '@/api/client';
import { membersQuery } from '@/api/queries';
import type { ObjectDetail } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { useIdentity } from '@/app/session';
import { IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { TARGET_ICONS, type Target } from './targets';
import type { Grant } from './why';

/** Who is in; what has ended is struck through until somebody takes it away. */
export function Grants({ file, grants, targets }: { file: ObjectDetail; grants: Grant[]; targets: Target[] }) {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const members = useQuery(membersQuery);
  const queries = useQueryClient();
  const owner = members.data?.find((member) => member.id === file.owner_id);
  const nameOf = (grant: Grant) => targets.find((one) => one.principal_id === grant.principal_id)?.name ?? grant.name ?? '';
  const withdraw = useMutation({
    mutationFn: (grant: Grant) =>
      value(
        api.POST('/api/repo-obj/{id}/unshare', {
          params: { path: { id: file.id } },
          body: { principal_type: grant.principal_type, principal_id: grant.principal_id },
        }),
      ),
    onSuccess: (_ended, grant) => {
      void queries.invalidateQueries({ queryKey: ['file', file.id] });
      toast(t('files.unshared_with', { name: nameOf(grant) }));
    },
  });
  return (
    <section aria-label={t('files.access')} className="mt-4 border-t border-line pt-4">
      <h3 className="mb-1 text-sm font-semibold">{t('files.access')}</h3>
      <ul>
        {owner && (
          <li className="flex items-center gap-3 py-1.5">
            <Crown size={16} aria-hidden className="shrink-0 text-muted" />
            <span data-raw className="min-w-0 flex-1 truncate">{owner.display_name}</span>
            <span className="text-sm text-muted">{t(owner.id === user.id ? 'files.owner_you' : 'files.owner')}</span>
          </li>
        )}
        {grants.map((grant) => (
          <GrantRow
            key={grant.principal_id}
            grant={grant}
            name={nameOf(grant)}
            busy={withdraw.isPending && withdraw.variables === grant}
            onWithdraw={() => withdraw.mutate(grant)}
          />
        ))}
      </ul>
      <Problem error={withdraw.error} />
    </section>
  );
}

function GrantRow({ grant, name, busy, onWithdraw }: { grant: Grant; name: string; busy: boolean; onWithdraw: () => void }) {
  const { t, ago, dateTime } = useLanguage();
  const Icon = TARGET_ICONS[grant.principal_type];
  return (
    <li data-testid="grant" className={clsx('flex items-center gap-3 py-1.5', busy && 'opacity-60')}>
      <Icon size={16} aria-hidden className="shrink-0 text-muted" />
      <span className="min-w-0 flex-1">
        <span data-raw className={clsx('block truncate', grant.expired && 'text-muted line-through')}>{name}</span>
        {grant.expires_at && (
          <time
            dateTime={grant.expires_at}
            title={dateTime(grant.expires_at)}
            className={clsx('block text-xs', grant.expired ? 'text-danger' : 'text-muted')}
          >
            {t(grant.expired ? 'files.ended' : 'files.ends', { when: ago(grant.expires_at) })}
          </time>
        )}
      </span>
      <span className="text-sm text-muted">{t(`files.can_${grant.capability}`)}</span>
      <IconButton label={t('files.withdraw', { name })} onClick={onWithdraw} disabled={busy} className="size-6">
        <X size={14} aria-hidden />
      </IconButton>
    </li>
  );
}
