import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Folder } from 'lucide-react';
import { membersQuery } from '@/api/queries';
import type { Order, StoredObject } from '@/api/repository';
import { useBytes } from '@/app/bytes';
import { useLanguage } from '@/i18n/language';
import { useIdentity } from '@/app/session';
import { LinkedRow, Table, type Column } from '@/ui/Table';
import { nameIn } from './keys';
import { KindIcon, VisibilityMark } from './parts';
import { RowMenu } from './RowMenu';

export interface Sorting {
  order: Order;
  down: boolean;
  by: (order: Order) => void;
}

interface Shown {
  folders?: string[];
  files: StoredObject[];
  whole?: boolean;
  sorting?: Sorting;
}

/** Folders first, then files; `whole` shows keys instead of names, for listings that are not of one folder. */
export function FileTable({ folders = [], files, whole = false, sorting }: Shown) {
  const { t } = useLanguage();
  const sort = (order: Order, label: string): Column => {
    if (!sorting) return { label };
    const sorted = sorting.order === order ? (sorting.down ? 'descending' : 'ascending') : undefined;
    return {
      label,
      sorted,
      head: (
        <button type="button" onClick={() => sorting.by(order)} className="inline-flex min-h-6 items-center gap-1">
          {label}
          {sorted && <span data-raw aria-hidden>{sorting.down ? '↓' : '↑'}</span>}
        </button>
      ),
    };
  };
  const columns: Column[] = [
    { ...sort('name', t('files.name')), className: 'sm:w-1/2' },
    { label: t('files.owner'), className: 'max-lg:hidden' },
    { label: t('files.seen_by'), className: 'max-md:hidden' },
    { ...sort('size', t('files.size')), align: 'end', className: 'max-sm:hidden' },
    { ...sort('updated', t('files.changed')), className: 'max-sm:hidden' },
    { label: t('ui.more_actions'), silent: true },
  ];
  return (
    <Table columns={columns}>
      {folders.map((folder) => <FolderRow key={folder} folder={folder} />)}
      {files.map((file) => <FileRow key={file.id} file={file} whole={whole} />)}
    </Table>
  );
}

const NAME = 'flex min-h-6 items-center gap-3 -outline-offset-2 after:absolute after:inset-0';

function FolderRow({ folder }: { folder: string }) {
  return (
    <LinkedRow>
      <td className="max-w-0 py-1.5 ps-4 pe-2 max-sm:w-full sm:w-1/2" colSpan={6}>
        <div className="flex min-h-8 items-center justify-between">
          <Link data-row to="/files" search={{ at: folder } as never} className={`min-w-0 ${NAME}`}>
            <Folder size={18} aria-hidden className="shrink-0 fill-accent-soft text-link" />
            <span data-raw className="truncate font-medium">{nameIn(folder)}</span>
          </Link>
          <div className="relative z-10"><RowMenu of={folder} /></div>
        </div>
      </td>
    </LinkedRow>
  );
}

function FileRow({ file, whole }: { file: StoredObject; whole: boolean }) {
  const { t, ago } = useLanguage();
  const { user } = useIdentity();
  const bytes = useBytes();
  const members = useQuery(membersQuery);
  const owner = members.data?.find((member) => member.id === file.owner_id)?.display_name;
  return (
    <LinkedRow>
      <td className="max-w-0 px-4 py-2.5 max-sm:w-full sm:w-1/2">
        <Link data-row to="/files/$id" params={{ id: file.id }} className={NAME}>
          <KindIcon type={file.content_type} />
          <span className="min-w-0">
            <span data-raw className="block truncate font-medium">{whole ? file.key : nameIn(file.key)}</span>
            <span className="block truncate text-xs text-muted sm:hidden">
              {bytes(file.size)} · {ago(file.updated_at)}
            </span>
          </span>
        </Link>
      </td>
      <td className="max-w-0 px-4 py-2.5 text-sm max-lg:hidden lg:w-40">
        {file.owner_id === user.id ? (
          <span className="text-muted">{t('files.you')}</span>
        ) : (
          <span data-raw className="block truncate">{owner ?? '–'}</span>
        )}
      </td>
      <td className="px-4 py-2.5 whitespace-nowrap max-md:hidden">
        <VisibilityMark visibility={file.visibility} words />
      </td>
      <td className="px-4 py-2.5 text-end text-sm whitespace-nowrap text-muted tnum max-sm:hidden">{bytes(file.size)}</td>
      <td className="px-4 py-2.5 text-sm whitespace-nowrap text-muted max-sm:hidden">{ago(file.updated_at)}</td>
      <td className="relative z-10 pe-2"><RowMenu of={file} /></td>
    </LinkedRow>
  );
}
