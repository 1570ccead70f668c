/** A file of the team, chosen by walking through its folders. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { CornerLeftUp, FileText, Folder } from 'lucide-react';
import { useState } from 'react';
import { folderQuery, objectQuery } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Field } from '@/ui/Field';
import { ListBody } from '@/ui/ListPage';

interface Props {
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
  optional?: string | undefined;
  id: string;
  onChoose: (id: string) => void;
}

export function FilePicker({ label, hint, problem, optional, id, onChoose }: Props) {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  const words = t(id ? 'workflows.choose_other_file' : 'workflows.choose_file');
  const chosen = useQuery({ ...objectQuery(id), enabled: id !== '' });
  const choose = (object: string) => {
    onChoose(object);
    setOpen(false);
  };
  return (
    <Field label={label} hint={hint} problem={problem} optional={optional}>
      {(wiring) => (
        <>
          <div className="flex flex-wrap items-center gap-2">
            <Button {...wiring} aria-label={`${label}: ${words}`} aria-expanded={open} onClick={() => setOpen(!open)}>
              <FileText size={15} aria-hidden />
              {words}
            </Button>
            {id && <span data-raw data-testid="chosen" className="min-w-0 font-mono text-sm break-all">{chosen.data?.key ?? id}</span>}
            {id && optional && <Button size="small" kind="ghost" onClick={() => choose('')}>{t('workflows.left_out')}</Button>}
          </div>
          {open && <Folders onChoose={choose} />}
        </>
      )}
    </Field>
  );
}

const ROW = 'flex min-h-9 w-full items-center gap-2.5 px-3 py-1.5 text-start hover:bg-raised -outline-offset-2';

function Folders({ onChoose }: { onChoose: (id: string) => void }) {
  const { t } = useLanguage();
  const [folder, setFolder] = useState('');
  const found = useInfiniteQuery(folderQuery({ folder, q: '' }));
  const folders = found.data?.pages.flatMap((page) => page.prefixes ?? []) ?? [];
  const files = found.data?.pages.flatMap((page) => page.items) ?? [];
  const above = folder.slice(0, folder.slice(0, -1).lastIndexOf('/') + 1);
  return (
    <div className="mt-2 max-h-72 overflow-y-auto rounded-lg border border-line" role="group" aria-label={t('nav.all_files')}>
      {folder && (
        <button type="button" className={ROW} onClick={() => setFolder(above)}>
          <CornerLeftUp size={15} aria-hidden className="shrink-0 text-muted" />
          {t('workflows.folder_up')}
        </button>
      )}
      <ListBody
        query={found}
        rows={3}
        empty={found.data && folders.length + files.length === 0 && <p className="p-3 text-muted">{t('workflows.no_files')}</p>}
      >
        {folders.map((one) => (
          <button key={one} type="button" className={ROW} onClick={() => setFolder(one)}>
            <Folder size={15} aria-hidden className="shrink-0 text-muted" />
            <span data-raw className="min-w-0 break-all">{one.slice(folder.length)}</span>
          </button>
        ))}
        {files.map((file) => (
          <button key={file.id} type="button" className={ROW} onClick={() => onChoose(file.id)}>
            <FileText size={15} aria-hidden className="shrink-0 text-muted" />
            <span data-raw className="min-w-0 break-all">{file.key.slice(folder.length)}</span>
          </button>
        ))}
      </ListBody>
    </div>
  );
}
