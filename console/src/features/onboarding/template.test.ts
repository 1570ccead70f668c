import { describe, expect, it } from 'vitest';
import { whole } from './editing';
import { marksOf, starterOf } from './template';

const plain = { help: '', required: false, max: null, options: [] };
const form = whole({
  fields: [
    { ...plain, name: 'email', type: 'email', label: 'E-mail', required: true },
    { ...plain, name: 'size', type: 'select', label: 'Size', options: ['1', 'more than "2" & <3>'] },
    { ...plain, name: 'why', type: 'textarea', label: 'Why?', max: 200 },
    { ...plain, name: 'terms', type: 'consent', label: 'Terms', required: true },
  ],
  copy: { title: 'Join', thanks: 'Thanks' },
});

describe('a page to start from', () => {
  it('has every field under its own name, with a label', () => {
    const page = new DOMParser().parseFromString(starterOf(form), 'text/html');
    const names = [...page.querySelectorAll('[name]:not(meta)')].map((one) => one.getAttribute('name'));
    expect(names).toEqual(['email', 'size', 'why', 'terms']);
    expect([...page.querySelectorAll('label')].map((one) => one.textContent?.trim())).toEqual(
      names.map((name) => `{{fields.${name}.label}}`),
    );
    expect(page.querySelectorAll('option')[2]?.textContent).toBe('more than "2" & <3>');
  });

  it('names no mark that the form has nothing for', () => {
    const used = [...starterOf(form).matchAll(/\{\{([^}]+)\}\}/g)].map(([, mark]) => mark);
    expect(used.filter((mark) => !marksOf(form).includes(mark!))).toEqual([]);
    expect(used).not.toContain('copy.intro');
  });

  it('runs no script but the server’s own', () => {
    expect(starterOf(form).match(/<script[^>]*>/g)).toEqual(['<script src="/beta-sdk.js">']);
  });
});
