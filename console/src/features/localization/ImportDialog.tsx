/** Taking catalogs in: those on the server's disk, or a file from a translator's program. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay } from '@/app/session';
import { languageName, useLanguage } from '@/i18n/language';
import { Field, SelectField, TextField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { Switch } from '@/ui/Switch';
import { coverageQuery, startImport } from './queries';
import { contentTypeOf, uploadCatalog } from './upload';

type From = 'disk' | 'file';
const LOCALE = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$/;

export default function ImportDialog({ onClose, onStarted }: { onClose: () => void; onStarted: (job: string) => void }) {
  const { t } = useLanguage();
  const may = useMay();
  const [from, setFrom] = useState<From>('disk');
  const [added, setAdded] = useState('');
  const [dry, setDry] = useState(false);
  const [locale, setLocale] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const wrong = added !== '' && !LOCALE.test(added);
  const begin = useMutation({
    mutationFn: async () => {
      if (from === 'disk') return startImport({ dry_run: dry, ...(added ? { locales: [added] } : {}) });
      const { id } = await uploadCatalog(file!);
      return startImport({ dry_run: dry, object_id: id, locale });
    },
    onSuccess: ({ job }) => onStarted(job),
  });
  const ready = from === 'disk' ? !wrong : file !== null && contentTypeOf(file) !== null && locale !== '';
  return (
    <FormDialog
      title={t('localization.import_title')}
      action={t('localization.import_do')}
      busy={begin.isPending}
      disabled={!ready}
      error={begin.error}
      onClose={onClose}
      onSubmit={() => begin.mutate()}
    >
      {may('files:write') && (
        <SelectField label={t('localization.import_from')} value={from} onChange={(event) => setFrom(event.target.value as From)}>
          <option value="disk">{t('localization.from_disk')}</option>
          <option value="file">{t('localization.from_file')}</option>
        </SelectField>
      )}
      <p className="text-sm text-muted">{t(from === 'disk' ? 'localization.from_disk_more' : 'localization.from_file_more')}</p>
      {from === 'disk' ? (
        <TextField
          label={t('localization.new_language')}
          hint={t('localization.new_language_more')}
          optional={t('ui.optional')}
          problem={wrong ? t('localization.new_language_wrong') : undefined}
          value={added}
          spellCheck={false}
          onChange={(event) => setAdded(event.target.value.trim())}
        />
      ) : (
        <ChosenFile file={file} onFile={setFile} locale={locale} onLocale={setLocale} />
      )}
      <div className="flex items-center justify-between gap-4">
        <span>
          <span className="block font-medium">{t('localization.dry_run')}</span>
          <span className="block text-sm text-muted">{t('localization.dry_run_more')}</span>
        </span>
        <Switch label={t('localization.dry_run')} on={dry} onChange={setDry} />
      </div>
    </FormDialog>
  );
}

interface ChosenProps {
  file: File | null;
  onFile: (file: File | null) => void;
  locale: string;
  onLocale: (locale: string) => void;
}

function ChosenFile({ file, onFile, locale, onLocale }: ChosenProps) {
  const { t } = useLanguage();
  const coverage = useQuery(coverageQuery);
  const wrong = file !== null && contentTypeOf(file) === null;
  return (
    <>
      <Field label={t('localization.file')} problem={wrong ? t('localization.file_wrong') : undefined} hint={t('localization.file_more')}>
        {(wiring) => (
          <input
            type="file"
            accept=".po,.xlf,.xliff,.arb,.json"
            {...wiring}
            className="field"
            onChange={(event) => onFile(event.target.files?.[0] ?? null)}
          />
        )}
      </Field>
      <SelectField label={t('localization.file_language')} value={locale} onChange={(event) => onLocale(event.target.value)}>
        <option value="">{t('localization.choose')}</option>
        {coverage.data?.map(({ locale: one }) => <option key={one} value={one} lang={one} data-raw>{languageName(one)}</option>)}
      </SelectField>
    </>
  );
}
