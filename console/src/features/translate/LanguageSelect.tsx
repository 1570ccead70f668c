import { SelectField } from '@/ui/Field';
import { LANGUAGES } from './languages';

interface Props {
  label: string;
  value: string;
  onChange: (tag: string) => void;
  /** What no choice means, where there is such a thing. */
  none?: string;
}

export function LanguageSelect({ label, value, onChange, none }: Props) {
  const known = value === '' || LANGUAGES.some(([tag]) => tag === value);
  return (
    <SelectField label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {none !== undefined && <option value="">{none}</option>}
      {!known && <option data-raw value={value}>{value}</option>}
      {LANGUAGES.map(([tag, name]) => <option key={tag} data-raw lang={tag} value={tag}>{name}</option>)}
    </SelectField>
  );
}
