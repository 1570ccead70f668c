import { MoreHorizontal } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { objectQuery } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { lazyDialog } from '@/app/lazy-dialog';
import { IconButton, Menu } from '@/ui/Overlay';
import { nameIn } from './keys';
import type { Movable } from './MoveDialog';

const RowActions = lazyDialog(() => import('./RowActions'));
const MoveDialog = lazyDialog(() => import('./MoveDialog'));

/** The menu beside a file, or beside a folder. */
export function RowMenu({ of }: { of: Movable }) {
  const { t } = useLanguage();
  const [open, setOpen] = useState(false);
  const [moving, setMoving] = useState(false);
  const queries = useQueryClient();
  // What the menu offers is asked for before it opens.
  const prepare = () => {
    if (typeof of !== 'string') void queries.prefetchQuery({ ...objectQuery(of.id), staleTime: 10_000 });
  };
  return (
    <>
      <Menu.Root open={open} onOpenChange={setOpen}>
        <Menu.Trigger asChild>
          <IconButton
            onFocus={prepare}
            onPointerEnter={prepare}
            label={t('files.actions_of', { name: nameIn(typeof of === 'string' ? of : of.key) })}
          >
            <MoreHorizontal size={17} aria-hidden />
          </IconButton>
        </Menu.Trigger>
        {open && <RowActions of={of} onMove={() => setMoving(true)} onClose={() => setOpen(false)} />}
      </Menu.Root>
      {moving && <MoveDialog what={of} onClose={() => setMoving(false)} />}
    </>
  );
}
