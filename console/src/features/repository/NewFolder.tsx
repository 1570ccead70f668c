import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { useLanguage } from '@/app/language';
import { Button } from '@/ui/Button';
import { TextField } from '@/ui/Field';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { folderNamed } from './keys';

/** A folder is the beginning its files' names share, so naming one leads into it and its first file makes it. */
export function NewFolder({ parent, onClose }: { parent: string; onClose: () => void }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const [empty, setEmpty] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const folder = folderNamed(parent, String(new FormData(event.currentTarget).get('name')));
    setEmpty(folder === null);
    if (folder === null) return;
    void navigate({ to: '/files', search: { at: folder } as never });
    onClose();
  };
  return (
    <Dialog open onClose={onClose} title={t('files.new_folder')} description={t('files.new_folder_lead')}>
      <form noValidate onSubmit={submit}>
        <TextField label={t('files.folder_name')} name="name" autoComplete="off" autoFocus maxLength={200} problem={empty ? t('ui.needed') : undefined} />
        <DialogActions><Button onClick={onClose}>{t('ui.cancel')}</Button><Button type="submit" kind="primary">{t('files.open_folder')}</Button></DialogActions>
      </form>
    </Dialog>
  );
}
