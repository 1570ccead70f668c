import { Link } from '@tanstack/react-router';
import { NotebookPen } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { useMay, useReadOnly } from '@/app/session';
import { useTitle } from '@/app/title';
import { Kbd } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';

/** Beside the list while no note is open. */
export default function NoteWelcome() {
  const { t, rich } = useLanguage();
  const writes = useMay()('notes:write');
  const readOnly = useReadOnly();
  useTitle(t('nav.notes'));
  return (
    <div className="grid h-full place-items-center">
      <div>
        <Empty
          icon={NotebookPen}
          title={t('notes.pick_title')}
          body={t('notes.pick_body')}
          action={
            writes &&
            !readOnly && (
              <Link to="/notes/new" className={buttonClass('primary')}>{t('nav.new_note')}</Link>
            )
          }
        />
        <p className="-mt-6 text-center text-sm text-muted">
          {rich('notes.pick_keys', { key: (parts) => <Kbd key={String(parts)}>{parts}</Kbd> })}
        </p>
      </div>
    </div>
  );
}
