/** What this process counts, for a glance; programs read the same at `/api/metrics`. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, value } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { ListPage } from '@/ui/ListPage';
import { Row, Table } from '@/ui/Table';

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const nameOf = ({ name, labels }: Sample): string => {
  const marks = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return marks.length ? `${name}{${marks.join(', ')}}` : name;
};

/** Buckets and the time a counter was made are for programs. */
const isForPeople = ({ name }: Sample): boolean => !/_(bucket|created)$/.test(name);

async function readMetrics(): Promise<Sample[]> {
  const families = (await value(api.GET('/api/metrics', { headers: { accept: 'application/json' } } as never))) as unknown as Record<
    string,
    Sample[]
  >;
  return Object.values(families).flat().filter(isForPeople);
}

export default function Metrics() {
  const { t, number } = useLanguage();
  const [typed, setTyped] = useState('');
  const metrics = useQuery({ queryKey: ['metrics'], queryFn: readMetrics, refetchInterval: 10_000 });
  const shown = metrics.data?.filter((sample) => nameOf(sample).includes(typed.trim())) ?? [];
  const search = (
    <input
      type="search"
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      aria-label={t('instance.metrics_search')}
      placeholder={t('instance.metrics_search')}
      className="h-11 w-full border-b border-line bg-transparent px-4 -outline-offset-2"
    />
  );
  return (
    <section aria-label={t('instance.metrics')}>
      <h2 className="mb-3 text-lg font-semibold">{t('instance.metrics')}</h2>
      <ListPage query={metrics} head={search}>
        <Table columns={[{ label: t('instance.metric') }, { label: t('instance.metric_value'), align: 'end' }]}>
          {shown.map((sample) => (
            <Row key={nameOf(sample)}>
              <td data-raw className="px-4 py-2 font-mono text-sm break-all">{nameOf(sample)}</td>
              <td data-raw className="px-4 py-2 text-end tnum">{number(sample.value)}</td>
            </Row>
          ))}
        </Table>
      </ListPage>
    </section>
  );
}
