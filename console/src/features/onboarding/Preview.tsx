/** The saved draft as visitors would get it, in a frame without forms: whatever is typed there is never sent. */
import clsx from 'clsx';
import { Monitor, TabletSmartphone } from 'lucide-react';
import { useState } from 'react';
import { ModeSwitch } from '@/app/colours/parts';
import type { Mode } from '@/app/colours/tokens';
import { languageName, useLanguage } from '@/i18n/language';
import { SelectField } from '@/ui/Field';
import { Part } from './Part';

const DEVICES = [['phone', TabletSmartphone], ['desktop', Monitor]] as const;

/** A third of its size, so that a page as wide as a desktop's fits. */
const LARGE = 'h-[300%] w-[300%] origin-top-left scale-[.3333] rtl:origin-top-right';

interface Props {
  /** Another one is another page. */
  revision: string;
  languages: string[];
  /** Whether there is something that the saved draft has not. */
  changed: boolean;
  mode: Mode;
  onMode: (mode: Mode) => void;
}

export function Preview({ revision, languages, changed, mode, onMode }: Props) {
  const { t } = useLanguage();
  const own = window.atrium.facts.localization.default_locale;
  const [device, setDevice] = useState<'phone' | 'desktop'>('phone');
  const [tag, setTag] = useState(own);
  const tags = [...new Set([own, ...languages])];
  const large = device === 'desktop';
  return (
    <Part title={t('onboarding.preview')} lead={t('onboarding.preview_lead')}>
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <SelectField label={t('ui.language')} value={tag} onChange={(event) => setTag(event.target.value)}>
          {tags.map((one) => <option key={one} value={one} data-raw>{languageName(one)}</option>)}
        </SelectField>
        <div role="group" aria-label={t('onboarding.device')} className="flex rounded-lg border border-line bg-raised p-0.5">
          {DEVICES.map(([one, Icon]) => (
            <button
              key={one}
              type="button"
              aria-pressed={device === one}
              aria-label={t(`onboarding.device_${one}`)}
              onClick={() => setDevice(one)}
              className={`grid h-8 w-10 place-items-center rounded-md ${device === one ? 'bg-surface shadow-card' : 'text-muted'}`}
            >
              <Icon size={16} aria-hidden />
            </button>
          ))}
        </div>
        <ModeSwitch mode={mode} onMode={onMode} />
      </div>
      <p role="status" className="mb-3 text-sm text-muted empty:hidden">{changed && t('onboarding.preview_changed')}</p>
      <div className="relative h-140 overflow-hidden rounded-lg border border-line bg-bg">
        <iframe
          key={`${revision} ${tag}`}
          title={t('onboarding.preview')}
          data-testid="form-preview"
          sandbox="allow-scripts"
          src={`/beta/template?draft=1&locale=${encodeURIComponent(tag)}`}
          className={clsx(large ? LARGE : 'mx-auto block h-full w-full max-w-96', mode === 'dark' ? 'scheme-dark' : 'scheme-light')}
        />
      </div>
    </Part>
  );
}
