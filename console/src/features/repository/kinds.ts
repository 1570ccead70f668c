/** How a file can be looked at. */
export type Kind = 'image' | 'pdf' | 'markdown' | 'text' | 'none';

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const TEXTS = /^(text\/|application\/(json|xml|javascript|yaml|x-yaml|toml|sql|x-sh|x-ndjson)$)|\+(json|xml)$/;
const TEXT_NAMES = /\.(txt|log|csv|tsv|json|ya?ml|toml|ini|conf|py|js|ts|tsx|rs|go|sh|sql|xml|html?|css|md)$/i;

export function kindOf({ content_type: type, filename }: { content_type: string; filename: string }): Kind {
  const plain = type.split(';')[0]!.trim().toLowerCase();
  if (IMAGES.has(plain)) return 'image';
  if (plain === 'application/pdf') return 'pdf';
  if (plain === 'text/markdown' || (plain === 'application/octet-stream' && /\.md$/i.test(filename))) return 'markdown';
  // Programs that know no types send bytes; the name then tells more.
  return TEXTS.test(plain) || (plain === 'application/octet-stream' && TEXT_NAMES.test(filename)) ? 'text' : 'none';
}

export const isText = (kind: Kind): boolean => kind === 'text' || kind === 'markdown';
