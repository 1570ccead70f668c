import type { Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Warning } from '@/ui/SecretDialog';

type Tool = Schemas['ToolState'];

interface Props {
  tool: Tool;
  onTurnOn: () => void;
  onClose: () => void;
}

/** As JSON whose keys are in order: where they stand says nothing. */
const written = (value: unknown) => JSON.stringify(value, ordered, 2);

function ordered(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** What another program says of its tool, before a model reads it; where the team has turned it on before, beside what it was. */
export function Review({ tool, onTurnOn, onClose }: Props) {
  const { t } = useLanguage();
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t(tool.changed ? 'features.review_title' : 'features.turn_on_title', { name: tool.name })}
      description={t(tool.changed ? 'features.review_lead' : 'features.turn_on_lead')}
    >
      <div className="grid gap-4">
        <Warning role="note">{t('features.turn_on_warning')}</Warning>
        {tool.changed ? <Changes tool={tool} /> : <Words tool={tool} />}
      </div>
      <DialogActions>
        <Button onClick={onClose}>{t('features.leave_off')}</Button>
        <Button
          kind="primary"
          onClick={() => {
            onTurnOn();
            onClose();
          }}
        >
          {t(tool.changed ? 'features.turn_on_as_is' : 'features.turn_on')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** All that a model reads of it. */
function Words({ tool }: { tool: Tool }) {
  const { t } = useLanguage();
  return (
    <>
      <Definition name={t('features.description')} text={tool.description} look="border-line" />
      <Definition name={t('features.arguments')} text={written(tool.parameters)} look="border-line" />
    </>
  );
}

/** What it was when the team turned it on, and what it is now. */
function Changes({ tool }: { tool: Tool }) {
  const { t } = useLanguage();
  const was: Record<string, unknown> = tool.pinned ?? {};
  const parts = [
    { label: t('features.description'), was: String(was.description ?? ''), now: tool.description },
    { label: t('features.arguments'), was: written(was.parameters), now: written(tool.parameters) },
  ].filter((part) => part.was !== part.now);
  return parts.map(({ label, was: before, now }) => (
    <section key={label} aria-label={label}>
      <h3 className="mb-1.5 text-sm font-medium">{label}</h3>
      <div className="grid gap-2 sm:grid-cols-2">
        <Definition name={t('features.was')} text={before} look="border-line" />
        <Definition name={t('features.now')} text={now} look="border-danger" />
      </div>
    </section>
  ));
}

function Definition({ name, text, look }: { name: string; text: string; look: string }) {
  return (
    <div className={`min-w-0 rounded-lg border p-3 ${look}`}>
      <p className="mb-1 text-xs font-medium text-muted">{name}</p>
      <pre data-raw tabIndex={0} className="max-h-60 overflow-auto font-mono text-xs whitespace-pre-wrap wrap-anywhere">{text}</pre>
    </div>
  );
}
