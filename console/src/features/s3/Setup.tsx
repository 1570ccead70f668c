import clsx from 'clsx';
import { useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { CopyButton } from '@/ui/Secret';
import { CLIENTS, type Access, type Client } from './clients';

const NAMES = Object.keys(CLIENTS) as Client[];

/** One client's configuration at a time, ready to paste. */
export function Setup({ access }: { access: Access }) {
  const { t } = useLanguage();
  const [client, setClient] = useState<Client>('aws-cli');
  const text = CLIENTS[client](access);
  return (
    <div>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <div role="group" aria-label={t('s3.client')} className="flex flex-wrap rounded-md bg-raised p-0.5">
          {NAMES.map((name) => (
            <button
              key={name}
              type="button"
              data-raw
              aria-pressed={client === name}
              onClick={() => setClient(name)}
              className={clsx(
                'h-7 rounded-sm px-2.5 text-sm font-medium',
                client === name ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text',
              )}
            >
              {name}
            </button>
          ))}
        </div>
        <div className="ms-auto"><CopyButton text={text} /></div>
      </div>
      <pre data-raw data-testid="setup" tabIndex={0} className="overflow-x-auto rounded-lg bg-raised p-4 font-mono text-sm">{text}</pre>
    </div>
  );
}
