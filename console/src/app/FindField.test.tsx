import { act, fireEvent, render, screen } from '@testing-library/react';
import { FindField } from './FindField';

const field = () => screen.getByRole('searchbox', { name: 'Find' });
const shown = (q: string, onFind: (q: string) => void) => <FindField q={q} label={'Find'} shortcut="search.focus" onFind={onFind} />;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('asks once, when the fingers rest, for what was typed without blanks around it', () => {
  const asked = vi.fn();
  render(shown('', asked));

  for (const value of ['b', 'be', ' beta ']) {
    fireEvent.change(field(), { target: { value } });
    act(() => void vi.advanceTimersByTime(100));
  }
  expect(asked).not.toHaveBeenCalled();
  act(() => void vi.advanceTimersByTime(100));

  expect(asked.mock.calls).toEqual([['beta']]);
});

test('shows what the address asks for when it changes by itself, and does not ask for its own words again', () => {
  const asked = vi.fn();
  const { rerender } = render(shown('beta', asked));

  rerender(shown('', asked));
  act(() => void vi.advanceTimersByTime(1000));

  expect(field()).toHaveValue('');
  expect(asked).not.toHaveBeenCalled();
});
