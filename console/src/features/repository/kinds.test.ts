import { kindOf } from './kinds';

test.each([
  ['image/png', 'a.png', 'image'],
  ['image/svg+xml', 'a.svg', 'text'],
  ['application/pdf', 'a.pdf', 'pdf'],
  ['text/markdown; charset=utf-8', 'a', 'markdown'],
  ['application/octet-stream', 'notes.md', 'markdown'],
  ['application/octet-stream', 'server.log', 'text'],
  ['text/html', 'a.html', 'text'],
  ['application/ld+json', 'a', 'text'],
  ['application/octet-stream', 'a.bin', 'none'],
  ['application/zip', 'a.zip', 'none'],
])('%s named %s is looked at as %s', (content_type, filename, kind) => expect(kindOf({ content_type, filename })).toBe(kind));
