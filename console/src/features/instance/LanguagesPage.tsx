import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, value, type Schemas } from '@/api/client';
import { Page } from '@/app/Page';
import { useMay } from '@/app/session';
import { languageName, useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { SelectField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { Switch } from '@/ui/Switch';
import { toast } from '@/ui/toast';

type Locale = Schemas['LocaleChange']['default_locale'];

/** The language of people who have not chosen one, and whether they may choose. */
export default function LanguagesPage() {
  const { t } = useLanguage();
  const may = useMay();
  const { locales, default_locale: usual, switching: open } = window.atrium.facts.localization;
  const [standard, setStandard] = useState(usual as Locale);
  const [switching, setSwitching] = useState(open);
  const save = useMutation({
    mutationFn: () => value(api.PUT('/api/i18n', { body: { default_locale: standard, switching } })),
    onSuccess: (policy) => {
      window.atrium.facts.localization = policy;
      toast(t('instance.languages_saved'));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Page
      title={t('nav.languages')}
      description={t('instance.languages_lead')}
      actions={
        may('localization:read') && <Link to="/settings/instance/translations" className={buttonClass()}>{t('nav.translations')}</Link>
      }
    >
      <Card className="max-w-xl p-5">
        <form className="grid gap-5" onSubmit={submit}>
          <SelectField
            label={t('instance.default_language')}
            hint={t('instance.default_language_more')}
            value={standard}
            onChange={(event) => setStandard(event.target.value as Locale)}
          >
            {locales.map((one) => <option key={one} value={one} lang={one} data-raw>{languageName(one)}</option>)}
          </SelectField>
          <div className="flex items-center justify-between gap-4">
            <span>
              <span className="block font-medium">{t('instance.switching')}</span>
              <span className="block text-sm text-muted">{t('instance.switching_more')}</span>
            </span>
            <Switch label={t('instance.switching')} on={switching} onChange={setSwitching} />
          </div>
          <Problem error={save.error} />
          <div><Button type="submit" kind="primary" busy={save.isPending}>{t('ui.save')}</Button></div>
        </form>
      </Card>
    </Page>
  );
}
