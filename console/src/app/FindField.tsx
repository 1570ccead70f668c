/** A field that finds while one types, once the fingers rest; `/` goes to it. What the address asks for is what it shows. */
import clsx from 'clsx';
import { Search } from 'lucide-react';
import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import type { MessageKey } from '@/i18n/messages';
import { useShortcuts } from './shortcuts';

interface Props {
  q: string;
  label: string;
  /** What `/` does here, as the list of keys says it. */
  shortcut: MessageKey;
  field?: RefObject<HTMLInputElement | null>;
  /** Milliseconds without a key after which it asks. */
  pause?: number;
  large?: boolean;
  className?: string;
  onFind: (q: string) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}

const LONGEST = 200;

export function FindField({ q, label, shortcut, field, pause = 150, large = false, className, onFind, onKeyDown }: Props) {
  const [typed, setTyped] = useState(q);
  const own = useRef<HTMLInputElement>(null);
  const input = field ?? own;
  const asked = useRef(q);
  useShortcuts([{ keys: '/', label: shortcut, run: () => input.current?.select() }]);
  // Back, a link or "show everything" asked for something else.
  useEffect(() => {
    if (q === asked.current) return;
    asked.current = q;
    setTyped(q);
  }, [q]);
  useEffect(() => {
    const next = typed.trim();
    if (next === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = next;
      onFind(next);
    }, pause);
    return () => clearTimeout(timer);
  });
  return (
    <div className={clsx('relative min-w-0', className)}>
      <Search
        size={large ? 17 : 16}
        className={clsx('pointer-events-none absolute text-muted', large ? 'start-3.5 top-3.5' : 'start-3 top-2.5')}
        aria-hidden
      />
      <input
        ref={input}
        type="search"
        autoFocus={large}
        maxLength={LONGEST}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
        aria-label={label}
        placeholder={label}
        className={clsx('field', large ? 'h-12 ps-10 text-lg' : 'ps-9')}
      />
    </div>
  );
}
