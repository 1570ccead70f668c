/** Who and what a file mentions, as far as it was read into the knowledge graph. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';

const SHOWN = 8;

export default function FileEntities({ id }: { id: string }) {
  const { t } = useLanguage();
  const found = useQuery({
    queryKey: ['knowledge', 'file', id],
    queryFn: () => value(api.GET('/api/kg/entities', { params: { query: { object: id, limit: SHOWN } } })),
  });
  const entities = found.data?.items ?? [];
  return (
    <div className="mt-4 border-t border-line pt-4">
      {entities.length > 0 && (
        <>
          <h3 className="mb-2 text-sm text-muted">{t('files.entities')}</h3>
          <ul className="mb-3 flex flex-wrap gap-1.5">
            {entities.map((one) => (
              <li key={one.id}>
                <Link
                  data-raw
                  to="/knowledge/$id"
                  params={{ id: one.id }}
                  className="inline-flex h-6 items-center rounded-full bg-raised px-2.5 text-sm text-link hover:underline"
                >
                  {one.name}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
      <Link to="/knowledge" className="inline-flex h-6 items-center text-sm text-link hover:underline">{t('nav.knowledge')}</Link>
    </div>
  );
}
