/** Every text of the form beside the same text in another language, and what that language lacks. */
import { useId, useState } from 'react';
import { languageName, useLanguage } from '@/i18n/language';
import { Badge } from '@/ui/bits';
import { SelectField } from '@/ui/Field';
import { missingIn, nameOf, readText, spotsOf, withText, type Spot } from './editing';
import type { Experience } from './experience';

interface Props {
  form: Experience;
  onChange: (form: Experience) => void;
}

export function Texts({ form, onChange }: Props) {
  const { t } = useLanguage();
  const { locales, default_locale: own } = window.atrium.facts.localization;
  const tags = [...new Set([...locales, ...Object.keys(form.locales)])].filter((tag) => tag !== own);
  const [chosen, setTag] = useState(tags[0]);
  const missing = chosen === undefined ? 0 : missingIn(form, chosen).length;
  return (
    <>
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <SelectField label={t('onboarding.beside')} value={chosen} onChange={(event) => setTag(event.target.value)}>
          {tags.map((tag) => (
            <option key={tag} value={tag} data-raw>{`${languageName(tag)} (${missingIn(form, tag).length})`}</option>
          ))}
        </SelectField>
        <span data-testid="missing" className="pb-2">
          <Badge tone={missing === 0 ? 'success' : 'warning'}>{t('onboarding.missing', { n: missing })}</Badge>
        </span>
      </div>
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {spotsOf(form).map((spot) => (
          <li key={nameOf(spot)} className="grid grid-cols-[minmax(0,1fr)] gap-1.5">
            <p data-raw className="font-mono text-xs text-muted">{nameOf(spot)}</p>
            <div className="grid gap-2 sm:grid-cols-2">
              {[undefined, chosen].map((tag, column) => (
                <Text key={column} spot={spot} tag={tag} language={languageName(tag ?? own)} form={form} onChange={onChange} />
              ))}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function Text({ spot, tag, language, form, onChange }: Props & { spot: Spot; tag: string | undefined; language: string }) {
  const { t } = useLanguage();
  const id = useId();
  const text = readText(form, spot, tag);
  const lacks = tag !== undefined && text === '' && readText(form, spot) !== '';
  return (
    <textarea
      id={id}
      rows={1}
      data-raw
      data-lacks={lacks || undefined}
      lang={tag}
      aria-label={t('onboarding.text_in', { name: nameOf(spot), language })}
      placeholder={tag === undefined ? undefined : readText(form, spot)}
      value={text}
      onChange={(event) => onChange(withText(form, spot, event.target.value, tag))}
      className={`field h-auto min-h-9 py-1.5 field-sizing-content ${lacks ? 'border-warning' : ''}`}
    />
  );
}
