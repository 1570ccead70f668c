import type { ReactNode } from 'react';

/** Plain text in which the words that matched stand out. */
export function Marked({ text, marks }: { text: string; marks: number[][] }) {
  const letters = [...text];
  const parts: ReactNode[] = [];
  let end = 0;
  for (const [from = 0, to = 0] of marks) {
    parts.push(
      letters.slice(end, from).join(''),
      <mark key={from} className="rounded-sm bg-accent-soft px-0.5 text-link">{letters.slice(from, to).join('')}</mark>,
    );
    end = to;
  }
  return <>{parts}{letters.slice(end).join('')}</>;
}
