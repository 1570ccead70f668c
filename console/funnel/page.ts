/** The funnel's own page: the published form drawn with plain elements, filled in, and sent by the SDK. */
type Option = { value: string; label: string };
type Field = { name: string; type: string; label: string; help: string; required: boolean; max: number; options: Option[] };
type Config = { locale: string; version: number; fields: Field[]; copy: Record<string, string>; theme: Record<string, string>; assets: Record<string, string> };
type Problem = { problem?: { detail?: string; errors?: { path: string; message: string }[] } };
type Beta = { challenge(): Promise<unknown>; signup(fields: Record<string, unknown>, more: Record<string, unknown>): Promise<unknown> };

const { config, words } = JSON.parse(document.getElementById('funnel')!.textContent!) as { config: Config; words: Record<string, string> };
const beta = (window as unknown as { Service: { beta: Beta } }).Service.beta;
const KEPT = 'atrium.beta';
const FONTS: Record<string, string> = {
  system: 'system-ui,sans-serif',
  inter: 'Inter,system-ui,sans-serif',
  serif: 'ui-serif,Georgia,serif',
  rounded: 'ui-rounded,"SF Pro Rounded",Nunito,system-ui,sans-serif',
};
const text = (key: string) => config.copy[key] ?? words[key] ?? '';

function make<K extends keyof HTMLElementTagNameMap>(tag: K, more: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), more);
  element.append(...children);
  return element;
}

function wear(): void {
  const sheet = new CSSStyleSheet();
  const tokens = (dark: boolean) =>
    Object.entries(config.theme)
      .filter(([name]) => name.startsWith('dark-') === dark)
      .map(([name, value]) => `--${name.replace('dark-', '')}:${value}`)
      .join(';');
  const own = config.assets.font ? `@font-face{font-family:own;src:url("${config.assets.font}") format("woff2")}` : '';
  const font = `${own}body{font-family:${own && 'own,'}${FONTS[config.theme.font ?? ''] ?? FONTS.system}}`;
  sheet.replaceSync(`:root{${tokens(false)}}@media (prefers-color-scheme:dark){:root{${tokens(true)}}}${font}`);
  document.adoptedStyleSheets = [sheet];
}

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
const inputs = new Map<string, Input>();
const isBox = (input: Input): input is HTMLInputElement => input instanceof HTMLInputElement && input.type === 'checkbox';

function inputOf(field: Field): Input {
  const shared = { id: `f-${field.name}`, name: field.name, required: field.required };
  if (field.type === 'textarea') return make('textarea', { ...shared, maxLength: field.max, rows: 4 });
  if (field.type === 'select') {
    const choices = field.options.map((option) => make('option', { value: option.value }, option.label));
    return make('select', shared, make('option', { value: '' }, '—'), ...choices);
  }
  if (field.type === 'checkbox' || field.type === 'consent') return make('input', { ...shared, type: 'checkbox' });
  const type = field.type === 'email' || field.type === 'url' ? field.type : 'text';
  return make('input', { ...shared, type, maxLength: field.max, autocomplete: type === 'email' ? 'email' : 'on' });
}

function rowOf(field: Field): HTMLElement {
  const input = inputOf(field);
  inputs.set(field.name, input);
  const described: string[] = [];
  const row = make('div', { className: isBox(input) ? 'row box' : 'row' });
  const label = make('label', { htmlFor: input.id }, field.label, field.required ? '' : make('span', { className: 'muted' }, ` ${words.optional}`));
  row.append(...(isBox(input) ? [input, label] : [label, input]));
  if (field.help) {
    row.append(make('p', { id: `h-${field.name}`, className: 'muted' }, field.help));
    described.push(`h-${field.name}`);
  }
  row.append(make('p', { id: `e-${field.name}`, className: 'fault', hidden: true }));
  input.setAttribute('aria-describedby', [...described, `e-${field.name}`].join(' '));
  return row;
}

const status = make('p', { id: 'status', className: 'muted' });
status.setAttribute('role', 'status');
const trap = make('input', { name: 'hp', tabIndex: -1, autocomplete: 'off' });
const button = make('button', { type: 'submit' }, text('submit'));
const form = make('form', { noValidate: true });

function values(): Record<string, unknown> {
  return Object.fromEntries([...inputs].map(([name, input]) => [name, isBox(input) ? input.checked : input.value]).filter(([, value]) => value !== ''));
}

function keep(): void {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(values()));
  } catch {
    // Without storage a reload begins anew.
  }
}

function forget(): void {
  try {
    sessionStorage.removeItem(KEPT);
  } catch {
    // In a sandbox there is no storage, and nothing was kept.
  }
}

function restore(): void {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? '{}') as Record<string, unknown>;
    for (const [name, value] of Object.entries(kept)) {
      const input = inputs.get(name);
      if (input && isBox(input)) input.checked = value === true;
      else if (input) input.value = String(value);
    }
  } catch {
    // What cannot be read is not restored.
  }
}

function fault(name: string, message: string): void {
  const place = document.getElementById(`e-${name}`);
  if (!place) return;
  place.textContent = message;
  place.hidden = !message;
  inputs.get(name)!.setAttribute('aria-invalid', String(!!message));
}

function ownFaults(): string[] {
  return config.fields.filter((field) => {
    const input = inputs.get(field.name)!;
    const bad = !input.checkValidity();
    fault(field.name, bad ? (input.validity.valueMissing ? words.missing! : words.invalid!) : '');
    return bad;
  }).map((field) => field.name);
}

function show(problem: Problem): void {
  const errors = problem.problem?.errors ?? [];
  for (const { path, message } of errors) fault(path.replace('fields.', ''), message);
  const first = errors.map(({ path }) => inputs.get(path.replace('fields.', ''))).find(Boolean);
  status.textContent = first ? words.correct! : (problem.problem?.detail ?? words.offline!);
  first?.focus();
}

async function send(): Promise<void> {
  const bad = ownFaults();
  if (bad.length) {
    status.textContent = words.correct!;
    inputs.get(bad[0]!)!.focus();
    return;
  }
  button.disabled = true;
  status.textContent = words.working!;
  try {
    await beta.signup(values(), { locale: config.locale, hp: trap.value });
    forget();
    const thanks = make('h1', { tabIndex: -1 }, text('thanks'));
    form.replaceWith(make('section', {}, thanks, make('p', {}, text('thanks_more'))));
    document.querySelector('header')!.remove();
    thanks.focus();
  } catch (error) {
    show(error as Problem);
  }
  button.disabled = false;
}

function draw(): void {
  wear();
  const main = document.querySelector('main')!;
  const header = make('header');
  if (config.assets.logo) header.append(make('img', { src: config.assets.logo, alt: '', className: 'logo' }));
  if (config.assets.hero) header.append(make('img', { src: config.assets.hero, alt: '', className: 'hero' }));
  header.append(make('h1', {}, text('title')), make('p', {}, text('intro')));
  const hidden = make('div', { className: 'trap' }, make('label', {}, 'Leave this empty', trap));
  hidden.setAttribute('aria-hidden', 'true');
  form.append(...config.fields.map(rowOf), hidden, button, status);
  main.append(header, form);
  restore();
  form.addEventListener('input', keep);
  // The proof is worked on while people type.
  form.addEventListener('focusin', () => void beta.challenge().catch(() => {}), { once: true });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
}

draw();

export {};
