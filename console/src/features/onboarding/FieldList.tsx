/** The form's fields in their order, changed by dragging or with the arrow keys on a field's handle. */
import { GripVertical, Plus, Trash2 } from 'lucide-react';
import { useState, type KeyboardEvent } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Field, SelectField, TextField } from '@/ui/Field';
import { IconButton } from '@/ui/Overlay';
import { Switch } from '@/ui/Switch';
import { moved, withChange, withField, withoutField } from './editing';
import { FIELD_TYPES, type Experience, type FieldType, type FormField } from './experience';

const MOST = 30;

export function FieldList({ form, onChange }: { form: Experience; onChange: (form: Experience) => void }) {
  const { t } = useLanguage();
  const [held, setHeld] = useState<number | null>(null);
  const [news, setNews] = useState('');
  const [type, setType] = useState<FieldType>('text');
  const move = (from: number, to: number) => {
    if (to < 0 || to >= form.fields.length || from === to) return;
    onChange({ ...form, fields: moved(form.fields, from, to) });
    setNews(t('onboarding.moved', { name: form.fields[from]!.label, n: to + 1, of: form.fields.length }));
  };
  return (
    <>
      <ol className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {form.fields.map((field, at) => (
          <li
            key={at}
            data-testid="form-field"
            onDragOver={(event) => held !== null && event.preventDefault()}
            onDrop={() => held !== null && move(held, at)}
            className="grid grid-cols-[auto_minmax(0,1fr)] gap-2 rounded-lg border border-line p-3"
          >
            <Handle field={field} onMove={(by) => move(at, at + by)} onHold={(on) => setHeld(on ? at : null)} />
            <FieldForm
              field={field}
              onChange={(change) => onChange(withChange(form, at, change))}
              onRemove={() => onChange(withoutField(form, at))}
            />
          </li>
        ))}
      </ol>
      <p role="status" className="sr-only">{news}</p>
      <div className="mt-4 flex flex-wrap items-end gap-2">
        <SelectField label={t('onboarding.new_type')} value={type} onChange={(event) => setType(event.target.value as FieldType)}>
          {FIELD_TYPES.map((one) => <option key={one} value={one}>{t(`onboarding.type_${one}`)}</option>)}
        </SelectField>
        <Button disabled={form.fields.length >= MOST} onClick={() => onChange(withField(form, type))}>
          <Plus size={15} aria-hidden />
          {t('onboarding.add_field')}
        </Button>
      </div>
    </>
  );
}

interface HandleProps {
  field: FormField;
  onMove: (by: number) => void;
  onHold: (on: boolean) => void;
}

/** Where a pointer takes hold of the field; with the focus here, arrows move it. */
function Handle({ field, onMove, onHold }: HandleProps) {
  const { t } = useLanguage();
  const press = (event: KeyboardEvent<HTMLButtonElement>) => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    if (by === 0) return;
    event.preventDefault();
    // The focus goes along with the field.
    const list = event.currentTarget.closest('ol');
    const at = [...(list?.children ?? [])].indexOf(event.currentTarget.closest('li')!) + by;
    onMove(by);
    list?.children[at]?.querySelector('button')?.focus();
  };
  return (
    <button
      type="button"
      draggable
      aria-label={t('onboarding.move', { name: field.label })}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move';
        onHold(true);
      }}
      onDragEnd={() => onHold(false)}
      onKeyDown={press}
      className="grid w-7 cursor-grab place-items-center self-stretch rounded-md text-muted hover:bg-raised"
    >
      <GripVertical size={16} aria-hidden />
    </button>
  );
}

interface FormProps {
  field: FormField;
  onChange: (change: Partial<FormField>) => void;
  onRemove: () => void;
}

function FieldForm({ field, onChange, onRemove }: FormProps) {
  const { t } = useLanguage();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label={t('onboarding.label')}
          data-raw
          value={field.label}
          maxLength={500}
          onChange={(event) => onChange({ label: event.target.value })}
        />
        <TextField
          label={t('onboarding.help')}
          data-raw
          value={field.help}
          maxLength={2000}
          onChange={(event) => onChange({ help: event.target.value })}
        />
        <TextField
          label={t('onboarding.name')}
          data-raw
          value={field.name}
          maxLength={40}
          spellCheck={false}
          className="font-mono"
          onChange={(event) => onChange({ name: event.target.value })}
        />
        <SelectField
          label={t('onboarding.type')}
          value={field.type}
          onChange={(event) => {
            const type = event.target.value as FieldType;
            onChange({ type, options: type === 'select' ? ['1', '2'] : [] });
          }}
        >
          {FIELD_TYPES.map((one) => <option key={one} value={one}>{t(`onboarding.type_${one}`)}</option>)}
        </SelectField>
      </div>
      {field.type === 'select' && (
        <Field label={t('onboarding.options')} hint={t('onboarding.options_hint')}>
          {(wiring) => (
            <textarea
              {...wiring}
              rows={3}
              data-raw
              value={field.options.join('\n')}
              onChange={(event) => onChange({ options: event.target.value.split('\n') })}
              className="field h-auto py-2"
            />
          )}
        </Field>
      )}
      <div className="flex items-center justify-between gap-3">
        <span className="flex items-center gap-2">
          <Switch
            label={t('onboarding.required_name', { name: field.label })}
            on={field.required}
            onChange={(required) => onChange({ required })}
          />
          <span aria-hidden>{t('onboarding.required')}</span>
        </span>
        <IconButton label={t('onboarding.remove', { name: field.label })} onClick={onRemove}><Trash2 size={15} aria-hidden /></IconButton>
      </div>
    </div>
  );
}
