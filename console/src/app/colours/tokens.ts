/** Theme tokens as data, the same as the server's: the closed set of names, the console's own values, the pairs to tell apart. */
export type Theme = Record<string, string>;

const LIGHT = {
  bg: '#f7f8fa',
  surface: '#ffffff',
  'surface-2': '#eef0f4',
  text: '#14171f',
  'text-muted': '#565d6d',
  border: '#dcdfe6',
  'border-strong': '#7f8798',
  accent: '#3b49df',
  'on-accent': '#ffffff',
  'accent-text': '#3240c9',
  'accent-soft': '#e8eafd',
  focus: '#3b49df',
  success: '#0b6b3a',
  warning: '#8a4b00',
  danger: '#b3202c',
  'on-danger': '#ffffff',
  info: '#0a5a9c',
  'nav-bg': '#ffffff',
  'nav-text': '#414858',
  'nav-active': '#e8eafd',
  'nav-active-text': '#2733a8',
  'chart-1': '#3b49df',
  'chart-2': '#0e7c66',
  'chart-3': '#b4540a',
  'chart-4': '#a3248f',
  'chart-5': '#55708c',
  'chart-6': '#8a6d00',
};
export type Name = keyof typeof LIGHT;

const DARK: Record<Name, string> = {
  bg: '#0e1116',
  surface: '#161a22',
  'surface-2': '#1f2530',
  text: '#e8ebf1',
  'text-muted': '#a2abbb',
  border: '#2a313e',
  'border-strong': '#717c90',
  accent: '#6b78ff',
  'on-accent': '#0b0d14',
  'accent-text': '#a3acff',
  'accent-soft': '#232a4d',
  focus: '#8f9aff',
  success: '#5fd39a',
  warning: '#f0b357',
  danger: '#ff8a8f',
  'on-danger': '#1c0708',
  info: '#7cc0ff',
  'nav-bg': '#12161d',
  'nav-text': '#b4bccb',
  'nav-active': '#232a4d',
  'nav-active-text': '#c6ccff',
  'chart-1': '#8f9aff',
  'chart-2': '#4fc3a5',
  'chart-3': '#f0955a',
  'chart-4': '#e07ad0',
  'chart-5': '#9db4cc',
  'chart-6': '#d9b93b',
};

export type Mode = 'light' | 'dark';
export const MODES: Mode[] = ['light', 'dark'];
export const NAMES = Object.keys(LIGHT) as Name[];
export const FONTS = ['system', 'inter', 'serif', 'rounded'] as const;
export const RADIUS = 8;

/** A token's key in a theme: dark colours are twins of the light ones. */
export const keyOf = (mode: Mode, name: string): string => (mode === 'dark' ? `dark-${name}` : name);
export const modeOf = (key: string): Mode => (key.startsWith('dark-') ? 'dark' : 'light');
export const nameOf = (key: string): Name => key.replace(/^dark-/, '') as Name;

export const DEFAULTS: Theme = Object.fromEntries(
  MODES.flatMap((mode) => NAMES.map((name) => [keyOf(mode, name), (mode === 'dark' ? DARK : LIGHT)[name]])),
);

/** As people look for them. */
export const GROUPS = {
  accent: ['accent', 'on-accent', 'accent-text', 'accent-soft', 'focus'],
  grounds: ['bg', 'surface', 'surface-2', 'text', 'text-muted', 'border', 'border-strong'],
  nav: ['nav-bg', 'nav-text', 'nav-active', 'nav-active-text'],
  states: ['success', 'warning', 'danger', 'on-danger', 'info'],
  charts: ['chart-1', 'chart-2', 'chart-3', 'chart-4', 'chart-5', 'chart-6'],
} as const satisfies Record<string, Name[]>;

const TEXT = 4.5;
const INTERFACE = 3;
/** A state's own tint on the surface, as badges and notices mix it. */
export const SOFT = '@soft';
const surfaces: Name[] = ['bg', 'surface', 'surface-2'];
const states: Name[] = ['success', 'warning', 'danger', 'info'];
type Pair = readonly [Name, Name | `${Name}${typeof SOFT}`, number];

export const PAIRS: Pair[] = [
  ...(['text', 'text-muted', 'accent-text'] as const).flatMap((name) => surfaces.map((ground): Pair => [name, ground, TEXT])),
  ['accent-text', 'accent-soft', TEXT],
  ['on-accent', 'accent', TEXT],
  ['on-danger', 'danger', TEXT],
  ['nav-text', 'nav-bg', TEXT],
  ['nav-active-text', 'nav-active', TEXT],
  ...states.flatMap((state) => surfaces.map((ground): Pair => [state, ground, TEXT])),
  ...states.map((state): Pair => [state, `${state}${SOFT}`, TEXT]),
  ...(['bg', 'surface'] as const).map((ground): Pair => ['border-strong', ground, INTERFACE]),
  ...(['bg', 'surface', 'nav-bg'] as const).map((ground): Pair => ['focus', ground, INTERFACE]),
  ...(['bg', 'surface'] as const).map((ground): Pair => ['accent', ground, INTERFACE]),
  ...(['chart-1', 'chart-2', 'chart-3', 'chart-4', 'chart-5', 'chart-6'] as const).map((name): Pair => [name, 'surface', INTERFACE]),
];
