/** The form's colours, judged as the server does: by themselves, on the product's own. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Colours } from '@/app/colours/Colours';
import { ContrastMeter } from '@/app/colours/ContrastMeter';
import { judge, paletteOf, type Judged } from '@/app/colours/contrast';
import { Shape } from '@/app/colours/Shape';
import { GROUPS, keyOf, type Mode } from '@/app/colours/tokens';
import type { Experience } from './experience';
import { lookQuery } from './queries';

/** A form has neither navigation nor charts. */
const SHOWN = ['accent', 'grounds', 'states'] as const;
const NAMES: readonly string[] = SHOWN.flatMap((group) => [...GROUPS[group]]);
const isShown = ({ mode, front, ground, passes }: Judged): boolean =>
  !passes || [front, ground].every((token) => NAMES.some((name) => keyOf(mode, name) === token));

interface Props {
  form: Experience;
  mode: Mode;
  onMode: (mode: Mode) => void;
  onChange: (form: Experience) => void;
}

export function Look({ form, mode, onMode, onChange }: Props) {
  const inherited = useQuery(lookQuery).data ?? {};
  const palette = useMemo(() => paletteOf(form.theme), [form.theme]);
  const judged = useMemo(() => judge(palette).filter(isShown), [palette]);
  const setToken = (token: string, value: string | null) => {
    const rest = Object.fromEntries(Object.entries(form.theme).filter(([name]) => name !== token));
    onChange({ ...form, theme: value === null ? rest : { ...rest, [token]: value } });
  };
  return (
    <>
      <Colours
        mode={mode}
        onMode={onMode}
        own={form.theme}
        palette={paletteOf(inherited, form.theme)}
        broken={judged.filter((one) => !one.passes)}
        refused={null}
        groups={SHOWN}
        onToken={setToken}
      />
      <Shape theme={form.theme} inherited={inherited} onToken={setToken} />
      <ContrastMeter judged={judged} mode={mode} own={form.theme} palette={palette} onFix={setToken} writable />
    </>
  );
}
