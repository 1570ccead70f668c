import { useMutation, useQueryClient } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { api, value } from '@/api/client';
import type { Usage } from '@/api/companies';
import { LimitForm, type LimitChange } from '@/app/LimitForm';
import { LimitOrigin } from '@/app/LimitOrigin';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { dimensionKey, Meter } from '@/ui/Meter';
import { IconButton } from '@/ui/Overlay';
import { toast } from '@/ui/toast';
import { companyQueryOf, type Company } from './companies';

/** What the whole company may use; a limit of the same dimension and window replaces the one before. */
export function Limits({ company }: { company: Company }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const set = useMutation({
    mutationFn: async (changes: LimitChange[]) => {
      for (const body of changes) await value(api.POST('/api/orgs/{ref}/quota', { params: { path: { ref: company.slug } }, body }));
    },
    onSuccess: (_, changes) => {
      void queries.invalidateQueries(companyQueryOf(company.slug));
      if (changes[0]?.limit !== null) return toast(t('companies.limit_set'));
      const before = company.quotas.filter((one) => changes.some((gone) => one.dimension === gone.dimension && one.window === gone.window));
      const again = before.map(({ dimension, window, limit }) => ({ dimension, window, limit }));
      toast(t('companies.limit_removed'), { undo: () => set.mutate(again) });
    },
  });
  return (
    <Card>
      <div className="border-b border-line px-5 py-3.5">
        <h2 className="text-lg font-semibold">{t('company.limits')}</h2>
        <p className="text-sm text-muted">{t('companies.limits_lead')}</p>
      </div>
      <ul>
        {company.usage.map((line) => (
          <LimitRow
            key={line.dimension + line.window}
            line={line}
            busy={set.isPending}
            onRemove={() => set.mutate(removing(company, line))}
          />
        ))}
      </ul>
      <div className="border-t border-line p-5">
        <LimitForm busy={set.isPending} error={set.error} onLimit={(limit) => set.mutate([limit])} />
      </div>
    </Card>
  );
}

/** What lasts has no window of its own: however it was limited, all of it goes. */
const removing = ({ quotas }: Company, { dimension, window }: Usage): LimitChange[] =>
  quotas
    .filter((one) => one.dimension === dimension && (window === null || one.window === window))
    .map((one) => ({ dimension, window: one.window, limit: null }));

function LimitRow({ line, busy, onRemove }: { line: Usage; busy: boolean; onRemove: () => void }) {
  const { t } = useLanguage();
  const name = t(dimensionKey(line.dimension));
  return (
    <li className="flex items-start gap-2 border-b border-line py-4 ps-5 pe-3 last:border-0">
      <div className="grid min-w-0 flex-1 gap-x-8 gap-y-2 sm:grid-cols-[11rem_minmax(0,1fr)]">
        <h3 className="font-medium">{name}</h3>
        <div>
          <Meter line={line} label={name} />
          <LimitOrigin line={line} />
        </div>
      </div>
      {line.limit === null ? (
        <span className="w-8" />
      ) : (
        <IconButton
          label={t('companies.remove_limit', { name, window: line.window ? t(`usage.window_${line.window}`) : t('usage.right_now') })}
          disabled={busy}
          onClick={onRemove}
          className="-mt-1"
        >
          <X size={15} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}
