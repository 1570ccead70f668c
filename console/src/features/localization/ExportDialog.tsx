/** Writing a language out: to the server's catalog files, or as a file for a translator's program. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { useMay } from '@/app/session';
import { languageName, useLanguage } from '@/i18n/language';
import { Button, buttonClass } from '@/ui/Button';
import { SelectField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { Dialog, DialogActions } from '@/ui/Overlay';
import { exportLocale, type FileFormat } from './queries';

const FORMATS: FileFormat[] = ['po', 'xliff', 'arb', 'json'];
type Exported = Schemas['ExportedLocale'] | Schemas['ExportedObject'];

export default function ExportDialog({ locale, onClose }: { locale: string; onClose: () => void }) {
  const { t } = useLanguage();
  const may = useMay();
  const [format, setFormat] = useState<FileFormat | ''>('');
  const write = useMutation({ mutationFn: () => exportLocale(locale, format || null) });
  const title = t('localization.export_title', { language: languageName(locale) });
  if (write.data) return <Done title={title} done={write.data} onClose={onClose} />;
  return (
    <FormDialog
      title={title}
      action={t('localization.export_do')}
      busy={write.isPending}
      error={write.error}
      onClose={onClose}
      onSubmit={() => write.mutate()}
    >
      <SelectField
        label={t('localization.export_as')}
        hint={t(format === '' ? 'localization.as_files_more' : 'localization.as_object_more')}
        value={format}
        onChange={(event) => setFormat(event.target.value as FileFormat | '')}
      >
        <option value="">{t('localization.as_files')}</option>
        {may('files:write') && FORMATS.map((one) => <option key={one} value={one}>{t(`localization.format_${one}`)}</option>)}
      </SelectField>
    </FormDialog>
  );
}

function Done({ title, done, onClose }: { title: string; done: Exported; onClose: () => void }) {
  const { t } = useLanguage();
  return (
    <Dialog open onClose={onClose} title={title}>
      {'object_id' in done ? (
        <p role="status" className="flex flex-wrap items-center gap-3">
          {t('localization.exported_object')}
          <Link to="/files/$id" params={{ id: done.object_id }} className={buttonClass('default', 'small')}>
            <span data-raw>{done.key}</span>
          </Link>
        </p>
      ) : (
        <p role="status">{t('localization.exported', { n: done.strings, files: done.files.length })}</p>
      )}
      <DialogActions><Button kind="primary" onClick={onClose}>{t('ui.done')}</Button></DialogActions>
    </Dialog>
  );
}
