import { useLanguage } from '@/i18n/language';
import { Field, SelectField } from '@/ui/Field';
import { Section } from './parts';
import { FONTS, RADIUS, type Theme } from './tokens';

/** What is shared by light and dark: how round things are, and the typeface. */
export function Shape({
  theme,
  inherited,
  onToken,
}: {
  theme: Theme;
  inherited: Theme;
  onToken: (token: string, value: string | null) => void;
}) {
  const { t } = useLanguage();
  const radius = parseInt(theme.radius ?? inherited.radius ?? `${RADIUS}`, 10);
  return (
    <Section title={t('branding.shape')}>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t('branding.radius')} hint={theme.radius === undefined ? t('branding.inherited_hint') : undefined}>
          {(wiring) => (
            <div className="flex h-9 items-center gap-3">
              <input
                {...wiring}
                type="range"
                min={0}
                max={16}
                value={radius}
                onChange={(event) => onToken('radius', `${event.target.value}px`)}
                className="h-6 min-w-0 flex-1 accent-(--accent)"
              />
              <output data-raw className="w-12 text-end font-mono text-sm">{`${radius}px`}</output>
            </div>
          )}
        </Field>
        <SelectField label={t('branding.font')} value={theme.font ?? ''} onChange={(event) => onToken('font', event.target.value || null)}>
          <option value="">{t('branding.font_inherited')}</option>
          {FONTS.map((font) => <option key={font} value={font}>{t(`branding.font_${font}`)}</option>)}
        </SelectField>
      </div>
    </Section>
  );
}
