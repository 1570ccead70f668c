/** Changing and lifting a limit of the team, where its line stands; a lifted one can be brought back while the news is there. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, value } from '@/api/client';
import { usageQuery, type Usage } from '@/api/companies';
import type { LimitChange } from '@/app/LimitForm';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { dimensionKey } from '@/ui/Meter';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';

/** What was set for a window is changed for that window. */
const changeOf = (line: Usage, limit: number | null): LimitChange => ({
  dimension: line.dimension,
  window: line.limit_window ?? line.window ?? 'total',
  limit,
});

export function TeamLimit({ line }: { line: Usage }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const [changing, setChanging] = useState(false);
  const name = t(dimensionKey(line.dimension));
  const named = { name, window: line.window ? t(`usage.window_${line.window}`) : t('usage.right_now') };
  const set = useMutation({
    mutationFn: (limit: number | null) => value(api.POST('/api/quota', { body: changeOf(line, limit) })),
    onSuccess: (_, limit) => {
      setChanging(false);
      void queries.invalidateQueries(usageQuery);
      if (limit !== null) return toast(t('usage.changed', { name }));
      toast(t('usage.lifted', { name }), { undo: () => set.mutate(line.limit) });
    },
  });
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        <Button size="small" aria-label={t('usage.change_of', named)} aria-expanded={changing} onClick={() => setChanging(!changing)}>
          {t('usage.change')}
        </Button>
        {line.source === 'limit' && (
          <Button size="small" aria-label={t('usage.lift_of', named)} busy={set.isPending && !changing} onClick={() => set.mutate(null)}>
            {t('usage.lift')}
          </Button>
        )}
      </div>
      {changing && <Change label={t('usage.most_of', named)} limit={line.limit} busy={set.isPending} onLimit={set.mutate} />}
      <Problem error={set.error} />
    </div>
  );
}

interface ChangeProps {
  label: string;
  limit: number | null;
  busy: boolean;
  onLimit: (limit: number) => void;
}

function Change({ label, limit, busy, onLimit }: ChangeProps) {
  const { t } = useLanguage();
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('limit')).trim();
    const valid = /^\d{1,15}$/.test(typed);
    setWrong(!valid);
    if (valid) onLimit(Number(typed));
  };
  return (
    <form noValidate onSubmit={submit} className="grid gap-2">
      <TextField
        label={label}
        name="limit"
        inputMode="numeric"
        autoComplete="off"
        defaultValue={limit === null ? '' : String(limit)}
        problem={wrong ? t('companies.most_hint') : undefined}
      />
      <div><Button type="submit" size="small" busy={busy}>{t('usage.save')}</Button></div>
    </form>
  );
}
