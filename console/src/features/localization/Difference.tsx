/** A text word by word against the one before it; without one before, the text as it is. */
import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';

export function Difference({ locale, before, after }: { locale: string; before: string; after: string }) {
  const parts = useMemo(() => (before === '' ? [{ value: after }] : diffWordsWithSpace(before, after)), [before, after]) as Part[];
  return (
    <p
      data-raw
      data-testid="difference"
      lang={locale}
      dir="auto"
      className="rounded-md bg-raised px-3 py-2 wrap-anywhere whitespace-pre-wrap"
    >
      {parts.map((part, at) => <Piece key={at} part={part} />)}
    </p>
  );
}

interface Part {
  value: string;
  added?: boolean;
  removed?: boolean;
}

function Piece({ part: { value, added, removed } }: { part: Part }) {
  if (added) return <ins className="rounded-sm bg-success-soft text-success">{value}</ins>;
  if (removed) return <del className="rounded-sm bg-danger-soft text-danger">{value}</del>;
  return value;
}
