/** Counts words through the plugin's own route: the smallest whole page, to copy from. */
import { wordsIn } from './words.js';

const made = (name, properties = {}) => Object.assign(document.createElement(name), properties);

/** Called by the console when the page opens; what it returns is called when the page closes. */
export function mount(el, { plugin, api, locale }) {
  const words = wordsIn(locale);
  const style = made('link', { rel: 'stylesheet', href: new URL('style.css', import.meta.url).href });
  const form = made('form', { className: 'word-counter' });
  const label = made('label', { textContent: words.label });
  const text = made('textarea', { name: 'text', rows: 8, required: true, maxLength: 1_000_000 });
  const result = made('output');
  label.append(text);
  form.append(label, made('button', { textContent: words.button }), result);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const counts = await api(`/api/x/${plugin}/word-count`, { method: 'POST', body: { text: text.value } });
      result.textContent = words.result(counts);
    } catch (refusal) {
      result.textContent = refusal.message;
    }
  });
  el.append(style, form);
}
