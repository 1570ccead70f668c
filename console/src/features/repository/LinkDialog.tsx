/** A link to a file for people without an account: whoever has it can download the file until it expires. */
import { useMutation } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import type { ObjectDetail } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { useOwnPassword } from '@/app/own-password';
import { Button } from '@/ui/Button';
import { SelectField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { Secret } from '@/ui/Secret';
import { nameIn } from './keys';

const LIVES = { hour: 3600, day: 86_400, week: 7 * 86_400 } as const;
type Life = keyof typeof LIVES;

export default function LinkDialog({ file, onClose }: { file: ObjectDetail; onClose: () => void }) {
  const { t, ago } = useLanguage();
  const create = useMutation({
    mutationFn: (body: Schemas['LinkDraft']) =>
      value(api.POST('/api/repo-obj/{id}/presign', { params: { path: { id: file.id } }, body })),
  });
  const own = useOwnPassword(create.error);
  const submit = (form: FormData) => {
    const password = own.read(form);
    if (password) create.mutate({ expires_in: LIVES[form.get('life') as Life], password });
  };
  const title = t('files.link_title', { name: nameIn(file.key) });
  if (create.data) {
    return (
      <Dialog open onClose={onClose} title={title} description={t('files.link_expires', { when: ago(create.data.expires_at) })}>
        <Secret label={t('files.link')} text={create.data.url} />
        <DialogActions><Button kind="primary" onClick={onClose}>{t('ui.done')}</Button></DialogActions>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={title}
      description={t('files.link_lead')}
      action={t('files.link_create')}
      busy={create.isPending}
      error={own.refused ? null : create.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField label={t('files.link_life')} name="life" defaultValue="day">
        {(Object.keys(LIVES) as Life[]).map((one) => <option key={one} value={one}>{t(`files.link_${one}`)}</option>)}
      </SelectField>
      {own.field}
    </FormDialog>
  );
}
