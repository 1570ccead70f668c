/** Which messages are on screen: every text that was said since somebody points, with the keys that said it. */
import { isValidElement, type ReactNode } from 'react';
import type { Hear } from '@/i18n/formatter';

export interface Heard {
  hear: Hear;
  /** The messages that a text on screen consists of, the whole before its parts. */
  keysOf: (text: string) => string[];
}

const HAS_LETTER = /\p{L}/u;

/** The texts that a message with tags falls into. */
function partsOf(said: ReactNode): string[] {
  if (typeof said === 'string') return [said];
  if (Array.isArray(said)) return said.flatMap(partsOf);
  return isValidElement<{ children?: ReactNode }>(said) ? partsOf(said.props.children) : [];
}

export function makeHeard(): Heard {
  const keys = new Map<string, Set<string>>();
  /** What was put into a message may be one itself: a time, a state. */
  const within = new Map<string, Set<string>>();
  const add = (map: Map<string, Set<string>>, text: string, one: string) => void map.set(text, (map.get(text) ?? new Set()).add(one));
  const hear: Hear = (key, said, values) => {
    for (const part of partsOf(said).map((one) => one.trim())) {
      if (!HAS_LETTER.test(part)) continue;
      add(keys, part, key);
      for (const value of Object.values(values ?? {}).map((one) => String(one).trim()))
        if (keys.has(value) && part.includes(value) && part !== value) add(within, part, value);
    }
  };
  const withParts = (text: string): string[] => [...(keys.get(text) ?? []), ...[...(within.get(text) ?? [])].flatMap(withParts)];
  const keysOf = (text: string) => {
    const whole = text.trim();
    const said = keys.has(whole) ? [whole] : longestIn(whole, [...keys.keys()]);
    return [...new Set(said.flatMap(withParts))];
  };
  return { hear, keysOf };
}

/** Where code puts texts together: those that stand in it as words of their own, and in none of the others. */
function longestIn(whole: string, texts: string[]): string[] {
  const inside = texts.filter((one) => {
    const at = whole.indexOf(one);
    return at >= 0 && !HAS_LETTER.test((whole[at - 1] ?? '') + (whole[at + one.length] ?? ''));
  });
  return inside.filter((one) => !inside.some((other) => other !== one && other.includes(one)));
}
