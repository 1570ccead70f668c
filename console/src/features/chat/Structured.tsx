/** A reply in JSON: what it says, and its source folded. */
import { useLanguage } from '@/i18n/language';
import { Value } from './Value';

export default function Structured({ value }: { value: unknown }) {
  const { t } = useLanguage();
  return (
    <div data-testid="structured" className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3">
      <Value value={value} />
      <details className="mt-3 text-sm">
        <summary className="w-fit font-medium text-muted">{t('chat.json_source')}</summary>
        <pre data-raw tabIndex={0} className="mt-2 max-h-96 overflow-auto rounded-md bg-raised p-3 font-mono text-xs -outline-offset-2">
          {JSON.stringify(value, null, 2)}
        </pre>
      </details>
    </div>
  );
}
