import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, value } from '@/api/client';
import { identityQuery } from '@/api/queries';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { wordsFor } from '@/ui/Problem';
import { toast } from '@/ui/toast';

type Kind = 'features' | 'tools';
/** With a digest, a tool is turned on only as it was when it was looked at. */
interface Change {
  name: string;
  enabled: boolean;
  digest?: string | null;
}
type List = { items: { name: string; enabled: boolean }[] };

const sent = (kind: Kind, { name, enabled, digest }: Change): Promise<unknown> =>
  kind === 'features'
    ? value(api.POST('/api/features/{name}', { params: { path: { name } }, body: { enabled } }))
    : value(api.POST('/api/tools/{name}', { params: { path: { name } }, body: { enabled, digest: (enabled && digest) || null } }));

/** Flips at once, and flips back with a reason when the server refuses. */
export function useSwitch(kind: Kind) {
  const language = useLanguage();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => sent(kind, change),
    onMutate: ({ name, enabled }) => {
      const before = queries.getQueryData<List>([kind]);
      queries.setQueryData<List>(
        [kind],
        (list) => list && { ...list, items: list.items.map((one) => (one.name === name ? { ...one, enabled } : one)) },
      );
      return before;
    },
    onSuccess: (_done, { name, enabled }) => {
      void queries.invalidateQueries({ queryKey: kind === 'features' ? [...identityQuery.queryKey] : ['tools'] });
      toast(
        language.t(enabled ? 'features.turned_on' : 'features.turned_off', { name: language.find(`features.feature_${name}`) ?? name }),
      );
    },
    onError: (error, _change, before) => {
      queries.setQueryData([kind], before);
      // What it was turned on as may be another thing by now.
      void queries.invalidateQueries({ queryKey: [kind] });
      if (isRefusal(error)) toast(wordsFor(language, error));
    },
  });
}
