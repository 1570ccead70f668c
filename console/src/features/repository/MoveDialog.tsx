/** Another name or another folder, of a file or of a folder with all that is in it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, value } from '@/api/client';
import { etagOf, type StoredObject } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { toast } from '@/ui/toast';
import { folderNamed, folderOf, nameIn } from './keys';

/** A folder is told by its name, which ends in a slash. */
export type Movable = StoredObject | string;

async function move(what: Movable, key: string): Promise<void> {
  if (typeof what === 'string') {
    await value(api.POST('/api/repo-batch', { body: { op: 'move', from: what, to: `${key}/` } }));
  } else {
    const params = { path: { id: what.id }, header: { 'If-Match': etagOf(what) } };
    await value(api.POST('/api/repo-obj/{id}/move', { params, body: { key } }));
  }
}

export default function MoveDialog({ what, onClose }: { what: Movable; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const [unnamed, setUnnamed] = useState(false);
  const before = typeof what === 'string' ? what.replace(/\/$/, '') : what.key;
  const moving = useMutation({
    mutationFn: (key: string) => move(what, key),
    onSuccess: (_, key) => {
      toast(t('files.moved', { key }));
      for (const kind of ['files', 'file', 'documents']) void queries.invalidateQueries({ queryKey: [kind] });
      onClose();
    },
  });
  const submit = (form: FormData) => {
    const name = String(form.get('name')).trim();
    setUnnamed(!name);
    if (name) moving.mutate((folderNamed('', String(form.get('folder'))) ?? '') + name);
  };
  return (
    <FormDialog
      title={t('files.move_title', { name: nameIn(before) })}
      action={t('ui.save')}
      busy={moving.isPending}
      error={moving.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={t('files.name')}
        name="name"
        defaultValue={nameIn(before)}
        autoComplete="off"
        autoFocus
        maxLength={255}
        problem={unnamed ? t('ui.needed') : undefined}
      />
      <TextField
        label={t('files.move_folder')}
        name="folder"
        defaultValue={folderOf(before)}
        hint={t('files.move_folder_hint')}
        autoComplete="off"
        maxLength={1000}
      />
    </FormDialog>
  );
}
