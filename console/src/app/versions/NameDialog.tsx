/** A name for a version, so that it is found again; without one it has its number alone. */
import { useMutation } from '@tanstack/react-query';
import { useLanguage } from '@/i18n/language';
import { TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { toast } from '@/ui/toast';
import type { Past } from './past';

interface Props {
  version: Past;
  onName: (name: string | null) => Promise<unknown>;
  onClose: () => void;
}

export default function NameDialog({ version: { number: n, name }, onName, onClose }: Props) {
  const { t } = useLanguage();
  const save = useMutation({
    mutationFn: onName,
    onSuccess: (_, given) => {
      toast(t(given ? 'versions.named' : 'versions.unnamed', { n }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('versions.name_title', { n })}
      description={t('versions.name_lead')}
      action={t('ui.save')}
      busy={save.isPending}
      error={save.error}
      onSubmit={(form) => save.mutate(String(form.get('name')).trim() || null)}
      onClose={onClose}
    >
      <TextField label={t('versions.name_field')} name="name" defaultValue={name ?? ''} autoComplete="off" autoFocus maxLength={100} />
    </FormDialog>
  );
}
