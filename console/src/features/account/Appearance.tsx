import { useMutation, useQueryClient } from '@tanstack/react-query';
import clsx from 'clsx';
import { Check, Monitor, Moon, Sun } from 'lucide-react';
import { api, value } from '@/api/client';
import { identityQuery } from '@/api/queries';
import { languageName, useLanguage } from '@/i18n/language';
import { Page } from '@/app/Page';
import { chooseMode, useMode } from '@/app/theme';
import { Problem } from '@/ui/Problem';
import { Panel } from './Panel';

const MODES = [['system', Monitor], ['light', Sun], ['dark', Moon]] as const;

export default function Appearance() {
  const { t } = useLanguage();
  const mode = useMode();
  return (
    <Page title={t('nav.appearance')} width="narrow">
      <Panel title={t('account.appearance')} body={t('account.appearance_lead')}>
        <div role="group" aria-label={t('account.appearance')} className="grid gap-3 sm:grid-cols-3">
          {MODES.map(([name, Icon]) => (
            <Choice key={name} chosen={mode === name} onChoose={() => chooseMode(name)}>
              <Icon size={17} aria-hidden />
              {t(`account.mode_${name}`)}
            </Choice>
          ))}
        </div>
      </Panel>
      <LanguagePanel />
    </Page>
  );
}

function LanguagePanel() {
  const { t, locale, switchLocale } = useLanguage();
  const queries = useQueryClient();
  const { switching, locales } = window.atrium.facts.localization;
  const choose = useMutation({
    mutationFn: async (next: string) => {
      await switchLocale(next);
      return value(api.POST('/api/profile', { body: { locale: next } }));
    },
    onSuccess: (identity) => queries.setQueryData(identityQuery.queryKey, identity),
  });
  return (
    <Panel title={t('ui.language')} body={t(switching ? 'account.language_lead' : 'account.language_fixed')}>
      {switching && (
        <div role="group" aria-label={t('ui.language')} className="grid gap-3 sm:grid-cols-2">
          {locales.map((one) => (
            <Choice key={one} chosen={locale === one} onChoose={() => choose.mutate(one)}>
              <span data-raw lang={one}>{languageName(one)}</span>
            </Choice>
          ))}
        </div>
      )}
      <div className="mt-3"><Problem error={choose.error} /></div>
    </Panel>
  );
}

function Choice({ chosen, onChoose, children }: { chosen: boolean; onChoose: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onChoose}
      className={clsx(
        'flex h-11 items-center gap-2.5 rounded-lg border px-3.5 text-start font-medium',
        chosen ? 'border-accent bg-accent-soft text-link' : 'border-line hover:bg-raised',
      )}
    >
      {children}
      {chosen && <Check size={16} className="ms-auto" aria-hidden />}
    </button>
  );
}
