/** The format a reply must have: any JSON, or what a schema says. */
import { useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { Field } from '@/ui/Field';
import { formatFor } from './format';

const EXAMPLE = '{"type": "object", "properties": {"ports": {"type": "array", "items": {"type": "string"}}}, "required": ["ports"]}';

export default function SchemaEditor({ schema, onChange }: { schema: string; onChange: (schema: string) => void }) {
  const { t } = useLanguage();
  const [left, setLeft] = useState(false);
  const found = formatFor(schema);
  const problem = left && 'problem' in found ? t(found.problem) : undefined;
  return (
    <div className="mb-2 rounded-lg border border-line bg-surface p-3">
      <Field label={t('chat.schema')} optional={t('ui.optional')} hint={t('chat.schema_more')} problem={problem}>
        {(wiring) => (
          <textarea
            data-raw
            {...wiring}
            rows={4}
            value={schema}
            spellCheck={false}
            maxLength={50_000}
            placeholder={EXAMPLE}
            onChange={(event) => onChange(event.target.value)}
            onBlur={() => setLeft(true)}
            className="field h-auto resize-y py-2 font-mono text-xs"
          />
        )}
      </Field>
    </div>
  );
}
