/** Letting people, teams or the whole company in: how far, until when, and who is in already. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import type { ObjectDetail } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { SelectField, TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Grants } from './Grants';
import { nameIn } from './keys';
import type { Target } from './targets';
import { WhyPanel } from './WhyPanel';
import type { Capability, Grant } from './why';

const CAPABILITIES: Capability[] = ['view', 'edit', 'manage'];
const DAY = 86_400_000;
const LIVES = { never: null, day_from_now: DAY, week: 7 * DAY, month: 30 * DAY } as const;
type Life = keyof typeof LIVES | 'date';

const targetsQuery = { queryKey: ['share-targets'], queryFn: () => value(api.GET('/api/share-targets')), staleTime: 60_000 };
export const grantsKey = (id: string) => ['file', id, 'grants'];

function useGrants(id: string) {
  const grants = useInfiniteQuery({
    queryKey: grantsKey(id),
    queryFn: ({ pageParam }) =>
      value(
        api.GET('/api/repo-obj/{id}/grants', {
          params: { path: { id }, query: { limit: 200, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  return { ...grants, list: grants.data?.pages.flatMap((page) => page.items) ?? [] };
}

export function ShareDialog({ file, onClose }: { file: ObjectDetail; onClose: () => void }) {
  const { t } = useLanguage();
  const targets = useQuery(targetsQuery);
  const grants = useGrants(file.id);
  const all = targets.data
    ? [...targets.data.people.filter((one) => one.principal_id !== file.owner_id), ...targets.data.teams, targets.data.org]
    : [];
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('files.share_title', { name: nameIn(file.key) })}
      description={t(`files.share_lead_${file.visibility}`)}
    >
      <ShareForm file={file} targets={all} />
      <div className="mt-4">
        <Problem
          error={targets.error ?? grants.error}
          onRetry={() => {
            void targets.refetch();
            void grants.refetch();
          }}
        />
      </div>
      <Grants
        file={file}
        grants={grants.list}
        targets={targets.data ? [...targets.data.people, ...targets.data.teams, targets.data.org] : []}
      />
      {grants.hasNextPage && (
        <Button size="small" busy={grants.isFetchingNextPage} onClick={() => void grants.fetchNextPage()}>
          {t('ui.more')}
        </Button>
      )}
      <WhyPanel file={file} grants={grants.list} />
      <DialogActions><Button kind="primary" onClick={onClose}>{t('ui.done')}</Button></DialogActions>
    </Dialog>
  );
}

/** The end of the chosen day, where this person is. */
const endOf = (day: string): string => new Date(`${day}T23:59:59`).toISOString();
const expiryOf = (life: Life, day: string): string | null => {
  if (life === 'date') return day ? endOf(day) : null;
  const length = LIVES[life];
  return length === null ? null : new Date(Date.now() + length).toISOString();
};

function ShareForm({ file, targets }: { file: ObjectDetail; targets: Target[] }) {
  const { t } = useLanguage();
  const [chosen, setChosen] = useState('');
  const [capability, setCapability] = useState<Capability>('view');
  const [life, setLife] = useState<Life>('never');
  const [day, setDay] = useState('');
  const [problem, setProblem] = useState<'whom' | 'day' | null>(null);
  const share = useShare(file, () => setChosen(''));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const target = targets.find((one) => one.principal_id === chosen);
    const wrong = !target ? 'whom' : life === 'date' && !day ? 'day' : null;
    setProblem(wrong);
    if (target && !wrong) share.mutate({ target, capability, expires_at: expiryOf(life, day) });
  };
  return (
    <form noValidate onSubmit={submit} className="grid gap-3 sm:grid-cols-2">
      <div className="sm:col-span-2">
        <SelectField
          label={t('files.share_whom')}
          value={chosen}
          onChange={(event) => setChosen(event.target.value)}
          problem={problem === 'whom' ? t('ui.needed') : undefined}
        >
          <option value="">{t('files.share_choose')}</option>
          {(['user', 'team', 'org'] as const).map((type) => (
            <optgroup key={type} label={t(`files.targets_${type}`)}>
              {targets
                .filter((one) => one.principal_type === type)
                .map((one) => <option key={one.principal_id} value={one.principal_id} data-raw>{one.name}</option>)}
            </optgroup>
          ))}
        </SelectField>
      </div>
      <SelectField
        label={t('files.share_level')}
        value={capability}
        onChange={(event) => setCapability(event.target.value as Capability)}
        hint={t(`files.can_${capability}_more`)}
      >
        {CAPABILITIES.map((one) => <option key={one} value={one}>{t(`files.can_${one}`)}</option>)}
      </SelectField>
      <SelectField label={t('files.share_until')} value={life} onChange={(event) => setLife(event.target.value as Life)}>
        {(['never', 'day_from_now', 'week', 'month', 'date'] as const).map((one) => (
          <option key={one} value={one}>{t(`files.until_${one}`)}</option>
        ))}
      </SelectField>
      {life === 'date' && (
        <div className="sm:col-span-2">
          <TextField
            type="date"
            label={t('files.until_day')}
            value={day}
            min={new Date().toISOString().slice(0, 10)}
            onChange={(event) => setDay(event.target.value)}
            problem={problem === 'day' ? t('ui.needed') : undefined}
          />
        </div>
      )}
      <div className="grid gap-3 sm:col-span-2">
        <p className="text-sm text-muted">{t('files.share_versions')}</p>
        <Problem error={share.error} />
        <Button type="submit" kind="primary" busy={share.isPending} className="justify-self-start">
          {t('files.share')}
        </Button>
      </div>
    </form>
  );
}

function useShare(file: ObjectDetail, onShared: () => void) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({
      target,
      capability,
      expires_at,
    }: {
      target: Target;
      capability: Capability;
      expires_at: string | null;
    }): Promise<Grant> =>
      value(
        api.POST('/api/repo-obj/{id}/share', {
          params: { path: { id: file.id } },
          body: { principal_type: target.principal_type, principal_id: target.principal_id, capability, expires_at },
        }),
      ),
    onSuccess: (_grant, { target }) => {
      toast(t('files.shared_with', { name: target.name }));
      onShared();
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['file', file.id] });
      void queries.invalidateQueries({ queryKey: ['files'] });
    },
  });
}
