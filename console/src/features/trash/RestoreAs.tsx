import { useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';

/** `ports/tides.md` → `ports/tides (2).md`: a name that is probably free. */
export const another = (key: string): string => key.replace(/(?<=[^/])(\.[^./]+)?$/, ' (2)$1');

/** Something else has the file's name by now, so it comes back under another one. */
export function RestoreAs({
  taken,
  busy,
  onKey,
  onClose,
}: {
  taken: string;
  busy: boolean;
  onKey: (key: string) => void;
  onClose: () => void;
}) {
  const { t } = useLanguage();
  const [key, setKey] = useState(() => another(taken));
  const problem = key.trim() === '' ? t('ui.needed') : key === taken ? t('trash.still_taken') : undefined;
  return (
    <FormDialog
      title={t('trash.taken_title')}
      description={t('trash.taken_body', { key: taken })}
      action={t('trash.restore')}
      busy={busy}
      disabled={problem !== undefined}
      onSubmit={() => onKey(key.trim())}
      onClose={onClose}
    >
      <TextField
        label={t('trash.new_key')}
        value={key}
        onChange={(event) => setKey(event.target.value)}
        autoFocus
        spellCheck={false}
        className="font-mono"
        problem={problem}
      />
    </FormDialog>
  );
}
