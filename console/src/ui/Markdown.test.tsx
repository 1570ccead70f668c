import { render } from '@testing-library/react';
import Markdown from './Markdown';

test('Markdown yields no HTML and no unsafe address', () => {
  const { container } = render(
    <Markdown
      source={
        '<script>alert(1)</script>\n\n[x](javascript:alert(1)) ![i](http://e/x.png) <img src=x onerror=1> [ok](https://a.b) [p](//evil) [d](data:text/html,1)'
      }
    />,
  );

  expect(container.querySelector('script, img')).toBeNull();
  expect([...container.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual(['https://a.b']);
});

test('lists, tables and tasks become elements', () => {
  const { container } = render(<Markdown source={'- [x] done\n- [ ] open\n\n| a | b |\n| - | - |\n| 1 | 2 |'} />);

  expect(container.querySelectorAll('li input')).toHaveLength(2);
  expect(container.querySelector('th')?.textContent).toBe('a');
  expect(container.querySelectorAll('td')).toHaveLength(2);
});

test('where lines are kept, blocks stand as far apart as they were written', () => {
  const source = '\n# a\nb\n\n\nc\n\n- d\n\n- e\n  - f\n\n> g\n>\n> h\n\n[x]: y\n\n***\n\n<div>i</div>';
  const { container } = render(<Markdown source={source} spaced />);

  const gaps = [...container.querySelectorAll<HTMLElement>('h2, p, ul, li, blockquote, hr')].map((block) => [
    block.firstChild?.textContent ?? '',
    Number.parseFloat(block.style.marginTop || '0') / 1.5,
  ]);
  expect(gaps).toEqual([
    ['a', 1], ['b', 0], ['c', 2],
    ['d', 1], ['d', 0], ['e', 1], ['f', 0], ['f', 0],
    ['g', 1], ['g', 0], ['h', 1],
    ['', 3], ['<div>i</div>', 1],
  ]);
});

test('only pictures of this instance are loaded', () => {
  const own = '/api/repo-obj/00000000-0000-4000-8000-000000000000/content';
  const { container } = render(<Markdown source={`![own](${own}) ![far](https://a.b/x.png) ![near](/api/whoami) ![up](${own}/../x)`} />);

  expect([...container.querySelectorAll('img')].map((picture) => picture.getAttribute('src'))).toEqual([own]);
  expect(container.textContent).toBe(' far near up');
});
