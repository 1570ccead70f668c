/** What the editor's parts share. */
import type { ReactNode } from 'react';
import { useLanguage } from '@/i18n/language';
import { Badge, Card } from '@/ui/bits';
import { MODES, type Mode } from './tokens';

/** A colour the server refused, and the one it would take. */
export interface Refused {
  token: string;
  nearest: string | null;
}

export function Section({ title, lead, action, children }: { title: string; lead?: string; action?: ReactNode; children: ReactNode }) {
  return (
    <Card className="p-5">
      <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
        <div>
          <h2 className="text-lg font-semibold">{title}</h2>
          {lead && <p className="mt-0.5 text-muted">{lead}</p>}
        </div>
        {action}
      </div>
      {children}
    </Card>
  );
}

export function ModeSwitch({ mode, onMode, counts }: { mode: Mode; onMode: (mode: Mode) => void; counts?: Record<Mode, number> }) {
  const { t } = useLanguage();
  return (
    <div role="group" aria-label={t('branding.mode')} className="flex rounded-lg border border-line bg-raised p-0.5">
      {MODES.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={mode === one}
          onClick={() => onMode(one)}
          className={`flex h-7 items-center gap-1.5 rounded-md px-3 text-sm font-medium ${mode === one ? 'bg-surface shadow-card' : 'text-muted hover:text-text'}`}
        >
          {t(`branding.mode_${one}`)}
          {counts && counts[one] > 0 && (
            <Badge tone="danger">
              <span data-raw>{counts[one]}</span>
            </Badge>
          )}
        </button>
      ))}
    </div>
  );
}
