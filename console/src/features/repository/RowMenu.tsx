import { useNavigate } from '@tanstack/react-router';
import { Download, History, MoreHorizontal, Share2, Trash2 } from 'lucide-react';
import type { StoredObject } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { useIdentity, useMay, useReadOnly } from '@/app/session';
import { IconButton, Menu, MenuContent, MenuItem, MenuSeparator } from '@/ui/Overlay';
import { useDeleteFile } from './deleting';
import { download } from './download';
import { nameIn } from './keys';

/** What this person may do, as far as a listing tells; the file's own page knows exactly, and the server has the last word. */
function useReach(file: StoredObject) {
  const { user, team } = useIdentity();
  const may = useMay();
  const readOnly = useReadOnly();
  const manages =
    !readOnly && (file.owner_id === user.id || (file.team_id === team.id && file.visibility === 'team' && may('files:manage')));
  return { manages };
}

export function RowMenu({ file }: { file: StoredObject }) {
  const { t } = useLanguage();
  const { manages } = useReach(file);
  const navigate = useNavigate();
  const remove = useDeleteFile();
  const open = (search: object) => void navigate({ to: '/files/$id', params: { id: file.id }, search: search as never });
  return (
    <Menu.Root>
      <Menu.Trigger asChild>
        <IconButton label={t('files.actions_of', { name: nameIn(file.key) })}>
          <MoreHorizontal size={17} aria-hidden />
        </IconButton>
      </Menu.Trigger>
      <MenuContent align="end">
        <MenuItem onSelect={() => download(file)}>
          <Download size={15} aria-hidden />
          {t('files.download')}
        </MenuItem>
        <MenuItem onSelect={() => open({ view: 'versions' })}>
          <History size={15} aria-hidden />
          {t('files.versions')}
        </MenuItem>
        {manages && (
          <>
            <MenuItem onSelect={() => open({ share: true })}>
              <Share2 size={15} aria-hidden />
              {t('files.share')}
            </MenuItem>
            <MenuSeparator />
            <MenuItem danger onSelect={() => void remove(file)}>
              <Trash2 size={15} aria-hidden />
              {t('files.delete')}
            </MenuItem>
          </>
        )}
      </MenuContent>
    </Menu.Root>
  );
}
