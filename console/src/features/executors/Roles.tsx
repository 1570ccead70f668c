/** Which executor the team uses for the work that models do in the background. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { useMay, useReadOnly } from '@/app/session';
import { Card } from '@/ui/bits';
import { SelectField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { rolesQuery, type Executor } from './queries';

export function Roles({ executors }: { executors: Executor[] }) {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  const queries = useQueryClient();
  const roles = useQuery(rolesQuery);
  const choose = useMutation({
    mutationFn: (name: string | null) => value(api.PUT('/api/model-roles', { body: { roles: { utility: name } } })),
    onSuccess: (now) => {
      queries.setQueryData(rolesQuery.queryKey, now);
      toast(t('executors.role_set'));
    },
  });
  if (!roles.data) return <Problem error={roles.error} onRetry={() => void roles.refetch()} />;
  const chosen = roles.data.roles.utility ?? '';
  const gone = chosen !== '' && !executors.some(({ name }) => name === chosen);
  return (
    <Card className="p-5">
      <div className="max-w-sm">
        <SelectField
          label={t('executors.role_utility')}
          hint={t('executors.role_utility_more')}
          problem={gone ? t('executors.role_gone') : undefined}
          value={chosen}
          disabled={readOnly || !may('settings:manage') || choose.isPending}
          onChange={(event) => choose.mutate(event.target.value || null)}
        >
          <option value="">{t('executors.role_default', { name: roles.data.default.utility ?? '' })}</option>
          {gone && <option value={chosen} data-raw>{chosen}</option>}
          {executors.map(({ name }) => <option key={name} value={name} data-raw>{name}</option>)}
        </SelectField>
      </div>
      <div className="mt-3"><Problem error={choose.error} /></div>
    </Card>
  );
}
