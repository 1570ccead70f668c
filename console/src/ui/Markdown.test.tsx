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
