import clsx from 'clsx';
import { useState } from 'react';
import { CopyButton } from './Secret';

/** One program's configuration at a time, ready to paste; `label` says what is chosen among. */
export function Snippets({ label, texts }: { label: string; texts: Record<string, string> }) {
  const names = Object.keys(texts);
  const [name, setName] = useState(names[0] ?? '');
  const text = texts[name] ?? '';
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <div role="group" aria-label={label} className="flex flex-wrap rounded-md bg-raised p-0.5">
          {names.map((one) => (
            <button
              key={one}
              type="button"
              data-raw
              aria-pressed={name === one}
              onClick={() => setName(one)}
              className={clsx(
                'h-7 rounded-sm px-2.5 text-sm font-medium',
                name === one ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text',
              )}
            >
              {one}
            </button>
          ))}
        </div>
        <div className="ms-auto"><CopyButton text={text} /></div>
      </div>
      <pre data-raw data-testid="setup" tabIndex={0} className="overflow-x-auto rounded-lg bg-raised p-4 font-mono text-sm">{text}</pre>
    </div>
  );
}
