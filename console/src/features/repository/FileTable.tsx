import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Folder } from 'lucide-react';
import { membersQuery } from '@/api/queries';
import type { StoredObject } from '@/api/repository';
import { useLanguage } from '@/app/language';
import { useIdentity } from '@/app/session';
import { nameIn } from './keys';
import { KindIcon, useBytes, VisibilityMark } from './parts';
import { RowMenu } from './RowMenu';

/** Folders first, then files; `whole` shows keys instead of names, for listings that are not of one folder. */
export function FileTable({ folders = [], files, whole = false }: { folders?: string[]; files: StoredObject[]; whole?: boolean }) {
  const { t } = useLanguage();
  return (
    <table className="w-full text-start">
      <thead>
        <tr className="border-b border-line text-sm text-muted">
          <th scope="col" className="px-4 py-2.5 text-start font-medium sm:w-1/2">{t('files.name')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium max-lg:hidden">{t('files.owner')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium max-md:hidden">{t('files.seen_by')}</th>
          <th scope="col" className="px-4 py-2.5 text-end font-medium max-sm:hidden">{t('files.size')}</th>
          <th scope="col" className="px-4 py-2.5 text-start font-medium max-sm:hidden">{t('files.changed')}</th>
          <th scope="col" className="w-12"><span className="sr-only">{t('ui.more_actions')}</span></th>
        </tr>
      </thead>
      <tbody>
        {folders.map((folder) => <FolderRow key={folder} folder={folder} />)}
        {files.map((file) => <FileRow key={file.id} file={file} whole={whole} />)}
      </tbody>
    </table>
  );
}

const NAME = 'flex min-h-6 items-center gap-3 -outline-offset-2 after:absolute after:inset-0';
const ROW = 'relative border-b border-line last:border-0 hover:bg-raised/60';

function FolderRow({ folder }: { folder: string }) {
  return (
    <tr className={ROW}>
      <td className="max-w-0 px-4 py-3 max-sm:w-full sm:w-1/2" colSpan={6}>
        <Link data-row to="/files" search={{ at: folder } as never} className={NAME}><Folder size={18} aria-hidden className="shrink-0 fill-accent-soft text-link" /><span data-raw className="truncate font-medium">{nameIn(folder)}</span></Link>
      </td>
    </tr>
  );
}

function FileRow({ file, whole }: { file: StoredObject; whole: boolean }) {
  const { t, ago } = useLanguage();
  const { user } = useIdentity();
  const bytes = useBytes();
  const members = useQuery(membersQuery);
  const owner = members.data?.find((member) => member.id === file.owner_id)?.display_name;
  return (
    <tr className={ROW}>
      <td className="max-w-0 px-4 py-2.5 max-sm:w-full sm:w-1/2">
        <Link data-row to="/files/$id" params={{ id: file.id }} className={NAME}>
          <KindIcon type={file.content_type} />
          <span className="min-w-0"><span data-raw className="block truncate font-medium">{whole ? file.key : nameIn(file.key)}</span><span className="block truncate text-xs text-muted sm:hidden">{bytes(file.size)} · {ago(file.updated_at)}</span></span>
        </Link>
      </td>
      <td className="max-w-0 px-4 py-2.5 text-sm max-lg:hidden lg:w-40">{file.owner_id === user.id ? <span className="text-muted">{t('files.you')}</span> : <span data-raw className="block truncate">{owner ?? '–'}</span>}</td>
      <td className="px-4 py-2.5 whitespace-nowrap max-md:hidden"><VisibilityMark visibility={file.visibility} words /></td>
      <td className="px-4 py-2.5 text-end text-sm whitespace-nowrap text-muted tnum max-sm:hidden">{bytes(file.size)}</td>
      <td className="px-4 py-2.5 text-sm whitespace-nowrap text-muted max-sm:hidden">{ago(file.updated_at)}</td>
      <td className="relative z-10 pe-2"><RowMenu file={file} /></td>
    </tr>
  );
}
