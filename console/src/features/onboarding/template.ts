/** A page of one's own: where it starts from, and the marks that stand for texts and files in it. */
import type { Experience, FormField } from './experience';

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Everything that a mark of this form can stand for. */
export const marksOf = (form: Experience): string[] => [
  'locale',
  'direction',
  ...Object.keys(form.copy).map((key) => `copy.${key}`),
  ...form.fields.flatMap(({ name }) => [`fields.${name}.label`, `fields.${name}.help`]),
  ...Object.keys(form.assets).map((kind) => `asset.${kind}`),
];

const STYLE = `  :root { color-scheme: light dark }
  body { margin: 0; font: 16px/1.6 system-ui, sans-serif }
  main { max-width: 34rem; margin: 0 auto; padding: 2rem 1rem }
  label { display: block; margin-top: 1rem; font-weight: 600 }
  label.box { font-weight: 400 }
  input:not([type=checkbox]), select, textarea { box-sizing: border-box; width: 100%; padding: .6rem; font: inherit }
  button { margin-top: 1.5rem; padding: .7rem 1.4rem; font: inherit }
  img { max-width: 100% }`;

function controlOf({ name, type, required, options, max }: FormField): string {
  const shared = `id="${name}" name="${name}"${required ? ' required' : ''}`;
  const longest = max === null ? '' : ` maxlength="${max}"`;
  if (type === 'textarea') return `<textarea ${shared}${longest} rows="4"></textarea>`;
  if (type === 'select') {
    const choices = options.map((one) => `<option>${escaped(one)}</option>`).join('');
    return `<select ${shared}><option value="">—</option>${choices}</select>`;
  }
  if (type === 'checkbox' || type === 'consent') return `<input type="checkbox" ${shared}>`;
  return `<input type="${type}" ${shared}${longest}${type === 'email' ? ' autocomplete="email"' : ''}>`;
}

function rowOf(field: FormField): string {
  const label = `{{fields.${field.name}.label}}`;
  if (field.type === 'checkbox' || field.type === 'consent') return `    <label class="box">${controlOf(field)} ${label}</label>`;
  return `    <label for="${field.name}">${label}</label>\n    ${controlOf(field)}`;
}

/** The form as HTML of one's own: it works as it is, in every language the form has. */
export function starterOf(form: Experience): string {
  const text = (key: string, before: string, after: string) => (form.copy[key] ? [`${before}{{copy.${key}}}${after}`] : []);
  return [
    '<!doctype html>',
    '<html lang="{{locale}}" dir="{{direction}}">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    ...text('title', '<title>', '</title>'),
    `<style>\n${STYLE}\n</style>`,
    '</head>',
    '<body>',
    '<main>',
    ...(form.assets.logo ? ['  <img src="{{asset.logo}}" alt="">'] : []),
    ...text('title', '  <h1>', '</h1>'),
    ...text('intro', '  <p>', '</p>'),
    '  <form data-beta data-beta-working="…">',
    ...form.fields.map(rowOf),
    form.copy.submit ? '    <button>{{copy.submit}}</button>' : '    <button>→</button>',
    '    <p data-beta-status role="status"></p>',
    '  </form>',
    ...text('thanks', '  <p data-beta-thanks hidden>', '</p>'),
    '</main>',
    '<script src="/beta-sdk.js"></script>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
