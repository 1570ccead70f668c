// Runs before the first paint, so that no frame has the wrong colours, and starts the first requests early.
(() => {
  const root = document.documentElement;
  const kept = (name) => { try { return localStorage.getItem('atrium.' + name); } catch { return null; } };
  const facts = JSON.parse(document.getElementById('boot').textContent);
  const signedIn = kept('signed_in');
  // Before sessions were cookies, their token was kept here: it ends, and nobody finds it any more.
  const former = kept('session');
  if (former) {
    localStorage.removeItem('atrium.session');
    fetch('/api/logout', { method: 'POST', headers: { authorization: 'Bearer ' + former } }).catch(() => {});
  }
  const mode = kept('mode');
  const dark = mode === 'dark' || (mode !== 'light' && matchMedia('(prefers-color-scheme:dark)').matches);
  root.dataset.mode = dark ? 'dark' : 'light';
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [sheet];
  const applyTheme = (theme) => {
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
  try { look = (signedIn && JSON.parse(kept('look'))) || facts; } catch { /* a damaged note is no note */ }
  applyTheme(look.theme || {});
  document.title = look.title || document.title;
  root.dataset.place = signedIn ? 'inside' : 'outside';
  const locale = (facts.localization?.switching && kept('locale')) || facts.locale || 'en';
  // The last resort, when the program or its words cannot be loaded: tried again by hand, or once the line is back.
  const stuck = () => {
    const page = document.getElementById('stuck');
    const again = () => fetch('/ready').then(() => location.reload(), () => {});
    root.lang = page.querySelector(`[lang=${locale}]`) ? locale : 'en';
    page.hidden = false;
    page.onclick = ({ target }) => target.type && again();
    addEventListener('online', again);
  };
  addEventListener('error', ({ target }) => target.type === 'module' && setTimeout(stuck), true);
  window.atrium = {
    facts,
    look,
    applyTheme,
    stuck,
    catalog: fetch('/api/i18n/catalog?locale=' + encodeURIComponent(locale) + '&namespaces=' + (signedIn ? FRAME : ENTRY)),
    identity: signedIn && fetch('/api/whoami'),
  };
  for (const early of [atrium.catalog, atrium.identity]) early?.catch?.(() => {});
})();
