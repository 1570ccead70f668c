/** Anything that JSON can express, for reading: objects as rows, lists of like objects as a table. Everything in it is text. */
import { useLanguage } from '@/i18n/language';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isFlat = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** The columns of a list whose items are objects of plain values with the same names; null of any other list. */
function columnsOf(list: readonly unknown[]): string[] | null {
  const [first] = list;
  if (list.length < 2 || !isObject(first)) return null;
  const names = Object.keys(first);
  const alike = (item: unknown) =>
    isObject(item) && Object.keys(item).length === names.length && names.every((name) => name in item && isFlat(item[name]));
  return names.length > 0 && list.every(alike) ? names : null;
}

export function Value({ value }: { value: unknown }) {
  const { t } = useLanguage();
  if (Array.isArray(value)) return <List list={value} />;
  if (isObject(value)) return <Rows facts={value} />;
  if (value === null || value === '') return <span className="text-muted">{t('chat.value_none')}</span>;
  if (typeof value === 'boolean') return t(value ? 'chat.value_yes' : 'chat.value_no');
  return <span data-raw className="wrap-anywhere whitespace-pre-wrap">{String(value)}</span>;
}

export function Rows({ facts }: { facts: Readonly<Record<string, unknown>> }) {
  const { t } = useLanguage();
  const entries = Object.entries(facts);
  if (entries.length === 0) return <span className="text-muted">{t('chat.value_none')}</span>;
  return (
    <dl className="grid gap-x-4 gap-y-1.5 sm:grid-cols-[minmax(5rem,max-content)_minmax(0,1fr)]">
      {entries.map(([name, value]) => (
        <div key={name} className="contents">
          <dt data-raw className="max-w-48 break-words text-muted">{name}</dt>
          <dd className="min-w-0 max-sm:mb-1"><Value value={value} /></dd>
        </div>
      ))}
    </dl>
  );
}

function List({ list }: { list: readonly unknown[] }) {
  const { t } = useLanguage();
  const columns = columnsOf(list);
  if (list.length === 0) return <span className="text-muted">{t('chat.value_none')}</span>;
  if (!columns) {
    return <ol className="list-decimal ps-5">{list.map((item, at) => <li key={at}><Value value={item} /></li>)}</ol>;
  }
  return (
    <div className="overflow-x-auto" tabIndex={0} role="group" aria-label={t('chat.value_table')}>
      <table className="w-full text-start">
        <thead>
          <tr className="border-b border-line">
            {columns.map((name) => <th key={name} data-raw scope="col" className="min-w-24 py-1 pe-4 text-start font-medium">{name}</th>)}
          </tr>
        </thead>
        <tbody>
          {list.map((item, at) => (
            <tr key={at} className="border-b border-line last:border-0">
              {columns.map((name) => (
                <td key={name} className="min-w-24 py-1 pe-4 align-top"><Value value={(item as Record<string, unknown>)[name]} /></td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
