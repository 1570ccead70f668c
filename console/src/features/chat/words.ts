/** Tools and where words came from, as people say it. */
import type { Formatter } from '@/i18n/language';
import type { Facts } from './answer';

/** The server's own tools have a name in every language; another one is called by its own, which is marked as raw where it stands. */
export const toolName = ({ find }: Pick<Formatter, 'find'>, name: string): string => find(`chat.tool_${name}`) ?? name.replaceAll('_', ' ');

const OF_DESCRIPTION = 'the description of ';
const SOURCES: Readonly<Record<string, 'chat.source_conversation' | 'chat.source_file'>> = {
  'the conversation': 'chat.source_conversation',
  'a file in the question': 'chat.source_file',
};

export function sourceName(language: Pick<Formatter, 'find' | 't'>, source: string): string {
  const known = SOURCES[source];
  if (known) return language.t(known);
  if (source.startsWith(OF_DESCRIPTION)) {
    return language.t('chat.source_description', { tool: toolName(language, source.slice(OF_DESCRIPTION.length)) });
  }
  return toolName(language, source);
}

/** The one line that tells calls of a tool apart: its plain arguments. */
export const gist = (facts: Facts): string =>
  Object.values(facts)
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .join(' · ')
    .replace(/\s+/g, ' ')
    .slice(0, 120);
