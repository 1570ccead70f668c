import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { folderNamed } from './keys';

/** A folder is the beginning its files' names share, so naming one leads into it and its first file makes it. */
export default function NewFolder({ parent, onClose }: { parent: string; onClose: () => void }) {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const [empty, setEmpty] = useState(false);
  const submit = (form: FormData) => {
    const folder = folderNamed(parent, String(form.get('name')));
    setEmpty(folder === null);
    if (folder === null) return;
    void navigate({ to: '/files', search: { at: folder } as never });
    onClose();
  };
  return (
    <FormDialog
      title={t('files.new_folder')}
      description={t('files.new_folder_lead')}
      action={t('files.open_folder')}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={t('files.folder_name')}
        name="name"
        autoComplete="off"
        autoFocus
        maxLength={200}
        problem={empty ? t('ui.needed') : undefined}
      />
    </FormDialog>
  );
}
