/** The page in a frame on other sites: HTML of one's own instead of the usual page, and which sites may show it. */
import { useRef } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Field } from '@/ui/Field';
import { Switch } from '@/ui/Switch';
import { isOrigin } from './editing';
import type { Experience } from './experience';
import { Part } from './Part';
import { marksOf, starterOf } from './template';

interface Props {
  form: Experience;
  onChange: (form: Experience) => void;
}

export function OwnPage({ form, onChange }: Props) {
  const { t } = useLanguage();
  // What was written stays at hand while the usual page is tried.
  const written = useRef(form.template);
  const toggle = (on: boolean) => {
    written.current = form.template ?? written.current;
    onChange({ ...form, template: on ? (written.current ?? starterOf(form)) : null });
  };
  return (
    <>
      <Part title={t('onboarding.template')} lead={t('onboarding.template_lead')}>
        <span className="flex items-center gap-2">
          <Switch label={t('onboarding.template_own')} on={form.template !== null} onChange={toggle} />
          <span aria-hidden>{t('onboarding.template_own')}</span>
        </span>
        {form.template !== null && <Html form={form} template={form.template} onChange={onChange} />}
      </Part>
      <Part title={t('onboarding.origins')} lead={t('onboarding.origins_lead')}>
        <Origins form={form} onChange={onChange} />
      </Part>
    </>
  );
}

function Html({ form, template, onChange }: Props & { template: string }) {
  const { t } = useLanguage();
  const field = useRef<HTMLTextAreaElement>(null);
  const insert = (mark: string) => {
    const [from, to] = [field.current?.selectionStart ?? template.length, field.current?.selectionEnd ?? template.length];
    const text = `{{${mark}}}`;
    onChange({ ...form, template: template.slice(0, from) + text + template.slice(to) });
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(from + text.length, from + text.length);
    });
  };
  return (
    <div className="mt-4 grid grid-cols-[minmax(0,1fr)] gap-4">
      <Field label={t('onboarding.template_html')} hint={t('onboarding.template_hint')}>
        {(wiring) => (
          <textarea
            {...wiring}
            ref={field}
            rows={18}
            dir="ltr"
            data-raw
            spellCheck={false}
            value={template}
            onChange={(event) => onChange({ ...form, template: event.target.value })}
            className="field h-auto resize-y py-2 font-mono text-xs leading-5 whitespace-pre"
          />
        )}
      </Field>
      <div role="group" aria-label={t('onboarding.marks')}>
        <p aria-hidden className="mb-1.5 text-sm font-medium">{t('onboarding.marks')}</p>
        <div className="flex flex-wrap gap-1.5">
          {marksOf(form).map((mark) => (
            <button
              key={mark}
              type="button"
              data-raw
              onClick={() => insert(mark)}
              className="min-h-6 rounded-sm bg-raised px-1.5 font-mono text-xs break-all hover:bg-accent-soft"
            >
              {mark}
            </button>
          ))}
        </div>
      </div>
      <div>
        <Button size="small" onClick={() => onChange({ ...form, template: starterOf(form) })}>{t('onboarding.template_again')}</Button>
      </div>
    </div>
  );
}

function Origins({ form, onChange }: Props) {
  const { t } = useLanguage();
  const wrong = form.embed_origins.find((one) => one.trim() && !isOrigin(one));
  return (
    <Field
      label={t('onboarding.origins_field')}
      hint={t('onboarding.origins_hint')}
      problem={wrong && t('onboarding.origins_wrong', { origin: wrong.trim() })}
    >
      {(wiring) => (
        <textarea
          {...wiring}
          rows={3}
          dir="ltr"
          data-raw
          spellCheck={false}
          value={form.embed_origins.join('\n')}
          onChange={(event) => onChange({ ...form, embed_origins: event.target.value === '' ? [] : event.target.value.split('\n') })}
          className="field h-auto py-2 font-mono text-sm"
        />
      )}
    </Field>
  );
}
