import { useQuery } from '@tanstack/react-query';
import { File, NotebookPen, RotateCcw, Trash2 } from 'lucide-react';
import type { Schemas } from '@/api/client';
import { membersQuery } from '@/api/queries';
import { useLanguage } from '@/i18n/language';
import { useBytes } from '@/app/bytes';
import { useIdentity } from '@/app/session';
import { Button } from '@/ui/Button';
import { IconButton } from '@/ui/Overlay';

type Item = Schemas['TrashItem'];

interface Props {
  item: Item;
  busy: boolean;
  onRestore: (() => void) | undefined;
  onPurge: (() => void) | undefined;
}

export function TrashRow({ item, busy, onRestore, onPurge }: Props) {
  const { t, date } = useLanguage();
  const bytes = useBytes();
  const by = useDeletedBy(item);
  const Icon = item.kind === 'note' ? NotebookPen : File;
  return (
    <li
      data-row
      data-testid="trashed"
      tabIndex={-1}
      className="flex items-center gap-2 border-b border-line px-4 py-3 -outline-offset-2 last:border-0"
    >
      <Icon size={18} className="shrink-0 text-muted" role="img" aria-label={t(`trash.a_${item.kind}`)} />
      <div className="min-w-0 flex-1">
        <p data-raw className="truncate font-medium">{item.title}</p>
        {item.key && item.key !== item.title && <p data-raw className="truncate text-sm text-muted">{item.key}</p>}
        <p className="text-sm text-muted">
          {by}
          <span data-raw> · </span>
          {bytes(item.size)}
          <span data-raw> · </span>
          <time dateTime={item.purge_at}>{t('trash.until', { date: date(item.purge_at) })}</time>
        </p>
      </div>
      {onRestore && (
        <Button size="small" busy={busy} onClick={onRestore} aria-label={t('trash.restore_name', { name: item.title })}>
          <RotateCcw size={14} aria-hidden />
          <span className="max-sm:hidden">{t('trash.restore')}</span>
        </Button>
      )}
      {onPurge && (
        <IconButton label={t('trash.purge_name', { name: item.title })} onClick={onPurge}>
          <Trash2 size={15} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}

/** Who deleted it and when; somebody who left the team has no name here. */
function useDeletedBy({ deleted_by: id, deleted_at: at }: Item): string {
  const { t, ago } = useLanguage();
  const { user } = useIdentity();
  const members = useQuery(membersQuery);
  const name = members.data?.find((member) => member.id === id)?.display_name;
  if (id === user.id) return t('trash.by_you', { when: ago(at) });
  return name ? t('trash.by', { name, when: ago(at) }) : t('trash.deleted', { when: ago(at) });
}
