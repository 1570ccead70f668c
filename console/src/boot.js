// Runs before the first paint, so that no frame has the wrong colours, and starts the first requests early.
(() => {
  const root = document.documentElement;
  const kept = (name) => { try { return localStorage.getItem('atrium.' + name); } catch { return null; } };
  const facts = JSON.parse(document.getElementById('boot').textContent);
  const token = kept('session');
  const mode = kept('mode');
  const dark = mode === 'dark' || (mode !== 'light' && matchMedia('(prefers-color-scheme:dark)').matches);
  root.dataset.mode = dark ? 'dark' : 'light';
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [sheet];
  const dress = (theme) => {
    const sides = ['', ''];
    for (const [name, value] of Object.entries(theme)) {
      if (!/^[a-z][a-z0-9-]*$/.test(name) || !/^[#\w -]+$/.test(value)) continue;
      const twin = +name.startsWith('dark-');
      sides[twin] += `--${twin ? name.slice(5) : name}:${value};`;
      if (name === 'radius') sides[1] += `--radius:${value};`;
    }
    sheet.replaceSync(`@layer brand{:root:not([data-mode=dark]){${sides[0]}}:root[data-mode=dark]{${sides[1]}}}`);
    root.dataset.font = theme.font || 'inter';
  };
  // Somebody signed in wears their company's look from the first frame on; a stranger, the hostname's.
  let look = facts;
  try { look = (token && JSON.parse(kept('look'))) || facts; } catch { /* a damaged note is no note */ }
  dress(look.theme || {});
  document.title = look.title || document.title;
  const locale = (facts.localization?.switching && kept('locale')) || facts.locale || 'en';
  const get = (path, headers) => fetch(path, { headers });
  window.atrium = {
    facts,
    look,
    dress,
    catalog: get('/api/i18n/catalog?locale=' + encodeURIComponent(locale)),
    identity: token && get('/api/whoami', { authorization: 'Bearer ' + token }),
  };
  for (const early of [atrium.catalog, atrium.identity]) early?.catch?.(() => {});
})();
