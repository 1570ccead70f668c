/** A user agent in words people know; programs and what nobody knows keep what they say of themselves. */
const BROWSERS = [
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;
const SYSTEMS = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux|X11/, 'Linux'],
] as const;
const LONGEST = 60;

const named = (agent: string, names: readonly (readonly [RegExp, string])[]): string | undefined =>
  names.find(([pattern]) => pattern.test(agent))?.[1];

export interface Device {
  browser: string;
  system: string;
}

/** The browser and what it runs on; only the text itself for anything else. */
export function deviceOf(agent: string): Device | string {
  const [browser, system] = [named(agent, BROWSERS), named(agent, SYSTEMS)];
  return browser && system ? { browser, system } : agent.slice(0, LONGEST);
}
