/** What the menu beside a file or a folder offers; loaded when one is opened. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Download, FileArchive, FolderInput, History, Share2, Trash2 } from 'lucide-react';
import { objectQuery, type StoredObject } from '@/api/repository';
import { useAbilities } from '@/app/abilities';
import { useLanguage } from '@/i18n/language';
import { useMay, useReadOnly } from '@/app/session';
import { MenuContent, MenuItem, MenuSeparator } from '@/ui/Overlay';
import { useDeleteFile } from './deleting';
import { download } from './download';
import { downloadFolder } from './folders';
import type { Movable } from './MoveDialog';

interface Props {
  of: Movable;
  onMove: () => void;
  onClose: () => void;
}

export default function RowActions({ of, onMove }: Props) {
  return (
    <MenuContent align="end">
      {typeof of === 'string' ? <FolderActions folder={of} onMove={onMove} /> : <FileActions file={of} onMove={onMove} />}
    </MenuContent>
  );
}

function Move({ onMove }: { onMove: () => void }) {
  const { t } = useLanguage();
  return (
    <MenuItem onSelect={onMove}>
      <FolderInput size={15} aria-hidden />
      {t('files.move')}
    </MenuItem>
  );
}

function FolderActions({ folder, onMove }: { folder: string; onMove: () => void }) {
  const { t } = useLanguage();
  const may = useMay();
  const readOnly = useReadOnly();
  return (
    <>
      {may('files:write') && !readOnly && <Move onMove={onMove} />}
      <MenuItem onSelect={() => downloadFolder(folder)}>
        <FileArchive size={15} aria-hidden />
        {t('files.download_zip')}
      </MenuItem>
    </>
  );
}

function FileActions({ file, onMove }: { file: StoredObject; onMove: () => void }) {
  const { t } = useLanguage();
  // A listing does not say what this person may do with each file; the file itself does.
  const { writes, deletes, manages } = useAbilities(useQuery(objectQuery(file.id)).data);
  const navigate = useNavigate();
  const remove = useDeleteFile();
  const open = (search: object) => void navigate({ to: '/files/$id', params: { id: file.id }, search: search as never });
  return (
    <>
      <MenuItem onSelect={() => download(file)}>
        <Download size={15} aria-hidden />
        {t('files.download')}
      </MenuItem>
      <MenuItem onSelect={() => open({ view: 'versions' })}>
        <History size={15} aria-hidden />
        {t('files.versions')}
      </MenuItem>
      {writes && <Move onMove={onMove} />}
      {manages && (
        <MenuItem onSelect={() => open({ share: true })}>
          <Share2 size={15} aria-hidden />
          {t('files.share')}
        </MenuItem>
      )}
      {deletes && (
        <>
          <MenuSeparator />
          <MenuItem danger onSelect={() => void remove(file)}>
            <Trash2 size={15} aria-hidden />
            {t('files.delete')}
          </MenuItem>
        </>
      )}
    </>
  );
}
