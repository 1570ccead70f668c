import { Check, CircleX } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { Badge } from '@/ui/bits';
import { Fix } from './Colours';
import { tint } from './colour';
import { shownRatio, wayOut, type Judged } from './contrast';
import { Section } from './parts';
import { nameOf, type Mode, type Theme } from './tokens';

/** Every pair that must be told apart, the weakest first. */
export function ContrastMeter({
  judged,
  mode,
  own,
  palette,
  onFix,
  writable,
}: {
  judged: Judged[];
  mode: Mode;
  own: Theme;
  palette: Theme;
  onFix: (token: string, colour: string) => void;
  writable: boolean;
}) {
  const { t } = useLanguage();
  const here = judged.filter((one) => one.mode === mode).sort((one, other) => one.ratio / one.floor - other.ratio / other.floor);
  const passed = judged.filter((one) => one.passes).length;
  return (
    <Section
      title={t('branding.contrast')}
      lead={t('branding.contrast_lead')}
      action={
        <span data-testid="contrast-count">
          <Badge tone={passed === judged.length ? 'success' : 'danger'}>{t('branding.passed', { passed, all: judged.length })}</Badge>
        </span>
      }
    >
      <ul tabIndex={0} aria-label={t('branding.contrast')} className="-mx-2 max-h-96 overflow-y-auto">
        {here.map((one) => (
          <Pair
            key={`${one.front} ${one.ground} ${one.soft}`}
            pair={one}
            palette={palette}
            way={one.passes || !writable ? null : wayOut(one, own, palette)}
            onFix={onFix}
          />
        ))}
      </ul>
    </Section>
  );
}

function Pair({
  pair,
  palette,
  way,
  onFix,
}: {
  pair: Judged;
  palette: Theme;
  way: { token: string; colour: string } | null;
  onFix: (token: string, colour: string) => void;
}) {
  const { t, number } = useLanguage();
  const named = (token: string) => t(`branding.token_${nameOf(token).replaceAll('-', '_') as 'bg'}`);
  const [front, below] = [palette[pair.front] ?? '', palette[pair.ground] ?? ''];
  const ground = pair.soft ? tint(front, below) : below;
  return (
    <li data-passes={pair.passes} className="rounded-md px-2 py-1.5">
      <div className="flex items-center gap-3">
        <span
          aria-hidden
          className="grid h-6 w-8 shrink-0 place-items-center rounded-sm border border-line"
          style={{ backgroundColor: ground }}
        >
          <span className="h-1.5 w-4 rounded-full" style={{ backgroundColor: front }} />
        </span>
        <span className="min-w-0 flex-1 text-sm">
          {pair.soft
            ? t('branding.pair_soft', { front: named(pair.front) })
            : t('branding.pair', { front: named(pair.front), ground: named(pair.ground) })}
        </span>
        <span className={`flex shrink-0 items-center gap-1.5 text-sm tnum ${pair.passes ? 'text-muted' : 'font-semibold text-danger'}`}>
          {t('branding.ratio', { ratio: number(shownRatio(pair.ratio)) })}
          {pair.passes ? <Check size={14} className="text-success" aria-hidden /> : <CircleX size={14} aria-hidden />}
          <span className="sr-only">{t(pair.passes ? 'branding.enough' : 'branding.too_weak')}</span>
        </span>
      </div>
      {!pair.passes && (
        <div className="mt-1.5 mb-1 flex flex-wrap items-center gap-2 ps-11 text-sm text-danger">
          {t('branding.needs', { floor: number(pair.floor) })}
          {way && <Fix colour={way.colour} onFix={(colour) => onFix(way.token, colour)} />}
        </div>
      )}
    </li>
  );
}
