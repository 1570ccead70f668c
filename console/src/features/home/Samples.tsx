import { useMutation, useQueryClient } from '@tanstack/react-query';
import { LibraryBig } from 'lucide-react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';

/** An empty team may look around in somebody else's notes and documents first. */
export default function Samples() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const seed = useMutation({
    mutationFn: () => value(api.POST('/api/admin/seed')),
    onSuccess: ({ notes, documents }) => {
      void queries.invalidateQueries();
      toast(t('home.samples_loaded', { n: notes + documents }));
    },
  });
  return (
    <div className="mt-4 grid gap-3 rounded-lg bg-raised p-3.5">
      <div className="flex flex-wrap items-center gap-3.5">
        <LibraryBig size={18} className="shrink-0 text-muted" aria-hidden />
        <div className="min-w-0 flex-1 basis-48">
          <p className="font-medium">{t('home.samples')}</p>
          <p className="text-sm text-muted">{t('home.samples_more')}</p>
        </div>
        <Button size="small" busy={seed.isPending} onClick={() => seed.mutate()}>{t('home.samples_do')}</Button>
      </div>
      {seed.error && <Problem error={seed.error} />}
    </div>
  );
}
