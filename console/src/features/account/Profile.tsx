import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { identityQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { useIdentity } from '@/app/session';
import { Avatar, Badge } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Panel } from './Panel';

export default function Profile() {
  const { t } = useLanguage();
  const identity = useIdentity();
  const queries = useQueryClient();
  const [name, setName] = useState(identity.user.display_name);
  const save = useMutation({
    mutationFn: () => value(api.POST('/api/profile', { body: { display_name: name.trim() } })),
    onSuccess: (changed) => {
      queries.setQueryData(identityQuery.queryKey, changed);
      void queries.invalidateQueries({ queryKey: ['members'] });
      toast(t('account.profile_saved'));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Page title={t('nav.profile')} width="narrow">
      <Panel title={t('account.your_name')} body={t('account.profile_lead')}>
        <form noValidate onSubmit={submit} className="grid gap-4">
          <div className="flex items-center gap-4">
            <Avatar name={name || identity.user.username} size={36} />
            <div className="min-w-0">
              <p data-raw className="truncate font-medium">{identity.user.username}</p>
              <p className="text-sm text-muted">{t('account.username_fixed')}</p>
            </div>
          </div>
          <TextField
            label={t('account.display_name')}
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
            autoComplete="name"
          />
          <Problem error={save.error} />
          <div>
            <Button
              type="submit"
              kind="primary"
              busy={save.isPending}
              disabled={!name.trim() || name.trim() === identity.user.display_name}
            >
              {t('ui.save')}
            </Button>
          </div>
        </form>
      </Panel>
      <Panel title={t('account.place')} body={t('account.place_lead')}>
        <dl className="grid gap-3 sm:grid-cols-2">
          <div>
            <dt className="text-sm text-muted">{t('account.company')}</dt>
            <dd data-raw className="font-medium">{identity.org.name}</dd>
          </div>
          <div>
            <dt className="text-sm text-muted">{t('account.team')}</dt>
            <dd data-raw className="font-medium">{identity.team.name}</dd>
          </div>
          <div>
            <dt className="mb-1 text-sm text-muted">{t('account.roles')}</dt>
            <dd className="flex flex-wrap gap-1.5">
              <Badge tone="accent">{t(`members.role_${identity.role}`)}</Badge>
              {identity.org_role && <Badge tone="info">{t(`members.${identity.org_role}`)}</Badge>}
              {identity.operator && <Badge tone="warning">{t('account.operator')}</Badge>}
            </dd>
          </div>
          <div>
            <dt className="mb-1 text-sm text-muted">{t('account.permissions')}</dt>
            <dd>{t('account.permissions_count', { n: identity.permissions.length })}</dd>
          </div>
        </dl>
      </Panel>
    </Page>
  );
}
