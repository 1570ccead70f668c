import clsx from 'clsx';
import { Undo2, WandSparkles } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { IconButton } from '@/ui/Overlay';
import { isColour } from './colour';
import type { Judged } from './contrast';
import { ModeSwitch, Section, type Refused } from './parts';
import { GROUPS, keyOf, type Mode, type Name, type Theme } from './tokens';

interface Props {
  mode: Mode;
  onMode: (mode: Mode) => void;
  /** The tokens set here; the others are inherited. */
  own: Theme;
  palette: Theme;
  broken: Judged[];
  refused: Refused | null;
  /** Which colours matter here. */
  groups?: readonly (keyof typeof GROUPS)[];
  onToken: (token: string, colour: string | null) => void;
}

const ALL = Object.keys(GROUPS) as (keyof typeof GROUPS)[];

export function Colours({ mode, onMode, own, palette, broken, refused, groups = ALL, onToken }: Props) {
  const { t } = useLanguage();
  const counts = { light: broken.filter((one) => one.mode === 'light').length, dark: broken.filter((one) => one.mode === 'dark').length };
  const touched = new Set(broken.flatMap((one) => [one.front, one.ground]).filter((token) => token in own));
  return (
    <Section
      title={t('branding.colours')}
      lead={t('branding.colours_lead')}
      action={<ModeSwitch mode={mode} onMode={onMode} counts={counts} />}
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
        {groups.map((group) => (
          <section key={group} aria-label={t(`branding.group_${group}`)}>
            <h3 className="mb-1 text-sm font-semibold text-muted">{t(`branding.group_${group}`)}</h3>
            <ul className="grid grid-cols-[minmax(0,1fr)] gap-x-8 lg:grid-cols-2 xl:grid-cols-1">
              {GROUPS[group].map((name) => {
                const token = keyOf(mode, name);
                return (
                  <Row
                    key={token}
                    name={name}
                    token={token}
                    colour={palette[token] ?? ''}
                    own={token in own}
                    weak={touched.has(token)}
                    refused={refused?.token === token ? refused : null}
                    onColour={(colour) => onToken(token, colour)}
                  />
                );
              })}
            </ul>
          </section>
        ))}
      </div>
    </Section>
  );
}

interface RowProps {
  name: Name;
  token: string;
  colour: string;
  own: boolean;
  weak: boolean;
  refused: Refused | null;
  onColour: (colour: string | null) => void;
}

function Row({ name, token, colour, own, weak, refused, onColour }: RowProps) {
  const { t } = useLanguage();
  const row = useRef<HTMLLIElement>(null);
  const label = t(`branding.token_${name.replaceAll('-', '_') as 'bg'}`);
  useEffect(() => {
    if (refused) row.current?.scrollIntoView({ block: 'center' });
  }, [refused]);
  return (
    <li ref={row} data-token={token} className="border-b border-line py-2 last:border-0">
      <div className="flex items-center gap-3">
        <input
          type="color"
          aria-label={label}
          value={colour}
          onChange={(event) => onColour(event.target.value)}
          className={clsx('swatch', (weak || refused) && 'outline-2 outline-offset-1 outline-danger')}
        />
        <div className="min-w-0 flex-1">
          <p className="truncate">{label}</p>
          <p className="truncate text-xs text-muted">
            <code data-raw className="font-mono">{token}</code>
          </p>
        </div>
        <Hex
          key={colour}
          label={t('branding.hex_of', { name: label })}
          colour={colour}
          own={own}
          invalid={weak || refused !== null}
          onColour={onColour}
        />
        {own ? (
          <IconButton label={t('branding.inherit', { name: label })} onClick={() => onColour(null)} className="size-7">
            <Undo2 size={14} aria-hidden />
          </IconButton>
        ) : (
          <span className="w-7" />
        )}
      </div>
      {refused && (
        <p role="alert" className="mt-2 flex flex-wrap items-center gap-2 text-sm text-danger">
          {t('branding.refused')}
          {refused.nearest && <Fix colour={refused.nearest} onFix={onColour} />}
        </p>
      )}
    </li>
  );
}

/** The colour as text; it counts once it is whole. */
function Hex({
  label,
  colour,
  own,
  invalid,
  onColour,
}: {
  label: string;
  colour: string;
  own: boolean;
  invalid: boolean;
  onColour: (colour: string) => void;
}) {
  const [typed, setTyped] = useState(colour);
  const change = (text: string) => {
    setTyped(text);
    if (isColour(text) && text.toLowerCase() !== colour) onColour(text.toLowerCase());
  };
  return (
    <input
      type="text"
      aria-label={label}
      aria-invalid={invalid || !isColour(typed) || undefined}
      value={typed}
      maxLength={7}
      spellCheck={false}
      onChange={(event) => change(event.target.value)}
      onBlur={() => isColour(typed) || setTyped(colour)}
      className={clsx('field h-8 w-23 px-2 font-mono text-sm', !own && 'text-muted')}
    />
  );
}

export function Fix({ colour, onFix }: { colour: string; onFix: (colour: string) => void }) {
  const { t } = useLanguage();
  return (
    <Button size="small" onClick={() => onFix(colour)}>
      <WandSparkles size={13} aria-hidden />
      <span aria-hidden className="size-3.5 rounded-sm border border-line" style={{ backgroundColor: colour }} />
      {t('branding.use', { colour })}
    </Button>
  );
}
