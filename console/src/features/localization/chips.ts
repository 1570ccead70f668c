/** What has to be in a translation, ready to be put in: arguments and tags of the source, plurals with the forms of the language. */
import { pluralForms, signatureOf } from './checks';

export interface Chip {
  /** As it stands in the source. */
  label: string;
  /** Goes before what is selected, and after it. */
  before: string;
  after: string;
}

export function chipsOf(source: string, locale: string): Chip[] {
  const found = signatureOf(source);
  if (!found) return [];
  const ofArguments = [...found.arguments].map(([name, type]): Chip => {
    const choices = found.selects.get(name);
    const before = choices ? choice(name, 'select', [...choices], '') : isPlural(type) ? plural(name, type, locale) : `{${name}}`;
    return { label: `{${name}}`, before, after: '' };
  });
  return [...ofArguments, ...[...found.tags].map((name): Chip => ({ label: `<${name}>`, before: `<${name}>`, after: `</${name}>` }))];
}

const isPlural = (type: string): boolean => type === 'plural' || type === 'selectordinal';

const plural = (name: string, type: string, locale: string): string =>
  choice(name, type, pluralForms(locale, type === 'plural' ? 'cardinal' : 'ordinal'), '# ');

const choice = (name: string, type: string, keys: string[], inside: string): string =>
  `{${name}, ${type}, ${keys.map((key) => `${key} {${inside}}`).join(' ')}}`;

/** Put in at the caret, as typing would, so that the field's own undo takes it back. */
export function insert(field: HTMLTextAreaElement, { before, after }: Chip): void {
  const { selectionStart: from, selectionEnd: to, value } = field;
  const inside = value.slice(from, to);
  field.focus();
  document.execCommand('insertText', false, before + inside + after);
  if (after) field.setSelectionRange(from + before.length, from + before.length + inside.length);
}
