/** The title of a text: a heading to those who read, a field to those who write. Enter leads into the text. */
import { useEffect, useRef, type KeyboardEvent } from 'react';

interface Props {
  title: string;
  writing: boolean;
  /** A new text: its title is there to be typed over. */
  select: boolean;
  label: string;
  placeholder: string;
  onTitle: (title: string) => void;
}

export function TitleField({ title, writing, select, label, placeholder, onTitle }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (select) field.current?.select();
  }, [select]);
  if (!writing) return <h1 data-raw className="mb-4 text-2xl font-semibold tracking-tight break-words">{title}</h1>;
  return (
    <>
      <h1 data-raw className="sr-only">{title}</h1>
      <input
        ref={field}
        value={title}
        maxLength={300}
        onChange={(event) => onTitle(event.target.value)}
        onKeyDown={enterText}
        aria-label={label}
        placeholder={placeholder}
        className="mb-4 w-full bg-transparent text-2xl font-semibold tracking-tight outline-none"
      />
    </>
  );
}

function enterText(event: KeyboardEvent): void {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  document.querySelector<HTMLElement>('[data-editor]')?.shadowRoot?.querySelector<HTMLElement>('.cm-content')?.focus();
}
