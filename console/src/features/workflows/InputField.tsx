/** One declared input of a workflow, asked for in the way its type needs. */
import { useLanguage } from '@/i18n/language';
import { Field, SelectField, TextField } from '@/ui/Field';
import { FilePicker } from './FilePicker';
import { isFile } from './inputs';
import type { DeclaredInput } from './shapes';

interface Props {
  name: string;
  declared: DeclaredInput;
  text: string;
  problem?: string | undefined;
  onText: (text: string) => void;
}

/** Its name and what is said about it are written by people. */
export function InputField(props: Props) {
  return <div data-raw className="min-w-0"><Asked {...props} /></div>;
}

function Asked({ name, declared, text, problem, onText }: Props) {
  const { t } = useLanguage();
  const { type, optional: isOptional = false } = declared;
  const optional = isOptional ? t('ui.optional') : undefined;
  const hint = declared.description || undefined;
  const about = { label: name, hint, problem, optional };
  if (isFile(name, declared)) return <FilePicker {...about} id={text} onChoose={onText} />;
  if (type === 'boolean') {
    return (
      <SelectField {...about} value={text} onChange={(event) => onText(event.target.value)}>
        <option value="">{t(isOptional ? 'workflows.left_out' : 'workflows.choose')}</option>
        <option value="true">{t('workflows.yes')}</option>
        <option value="false">{t('workflows.no')}</option>
      </SelectField>
    );
  }
  if (type === 'number' || type === 'integer') {
    return (
      <TextField
        {...about}
        inputMode={type === 'integer' ? 'numeric' : 'decimal'}
        autoComplete="off"
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    );
  }
  const isJson = type !== 'string';
  return (
    <Field {...about}>
      {(wiring) => (
        <textarea
          {...wiring}
          rows={isJson ? 4 : 2}
          value={text}
          spellCheck={!isJson}
          placeholder={isJson ? (type === 'array' ? '["…"]' : '{"…": "…"}') : undefined}
          onChange={(event) => onText(event.target.value)}
          className={`field h-auto resize-y py-2 ${isJson ? 'font-mono text-xs' : ''}`}
        />
      )}
    </Field>
  );
}
