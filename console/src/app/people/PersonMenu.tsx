/** What whoever manages somebody can do for them and to them; the same in a team and in the company. */
import { KeyRound, LinkIcon, MoreHorizontal, ShieldOff, UserCog, UserMinus } from 'lucide-react';
import { useState } from 'react';
import { givable } from '@/api/roles';
import type { Identity, Member } from '@/api/queries';
import { IconButton, Menu, MenuContent, MenuItem, MenuSeparator } from '@/ui/Overlay';
import { useLanguage } from '@/i18n/language';
import { lazyDialog } from '../lazy-dialog';
import { useIdentity, useMay, useReadOnly } from '../session';
import type { PersonDialog } from './dialog';

const DIALOGS = {
  role: lazyDialog(() => import('./ChangeRole')),
  credentials: lazyDialog(() => import('./Credentials')),
  reset: lazyDialog(() => import('./ResetLink')),
  two_factor: lazyDialog(() => import('./RevokeTwoFactor')),
  remove: lazyDialog(() => import('./RemovePerson')),
};
type Open = keyof typeof DIALOGS;

/** Nobody acts on somebody who holds more than they do; the server has the last word. */
const isWithinReach = (person: Member, { role, org_role: own, operator }: Identity): boolean =>
  givable(role, operator).includes(person.role) && (person.org_role !== 'org_owner' || own === 'org_owner');

export function PersonMenu({ person, colleagues }: Omit<PersonDialog, 'onClose'>) {
  const { t } = useLanguage();
  const identity = useIdentity();
  const may = useMay();
  const readOnly = useReadOnly();
  const [open, setOpen] = useState<Open | null>(null);
  const manages = may('members:manage') && person.id !== identity.user.id && isWithinReach(person, identity);
  const resets = identity.operator && person.two_factor;
  if (!manages && !resets) return null;
  const Dialog = open && DIALOGS[open];
  return (
    <>
      <Menu.Root>
        <Menu.Trigger asChild>
          <IconButton label={t('members.actions_for', { name: person.display_name })}>
            <MoreHorizontal size={16} aria-hidden />
          </IconButton>
        </Menu.Trigger>
        <MenuContent align="end">
          {manages && !readOnly && (
            <MenuItem onSelect={() => setOpen('role')}>
              <UserCog size={15} aria-hidden />
              {t('members.change_role')}
            </MenuItem>
          )}
          {manages && (
            <MenuItem onSelect={() => setOpen('reset')}>
              <LinkIcon size={15} aria-hidden />
              {t('members.reset')}
            </MenuItem>
          )}
          {manages && (
            <MenuItem onSelect={() => setOpen('credentials')}>
              <KeyRound size={15} aria-hidden />
              {t('members.credentials')}
            </MenuItem>
          )}
          {resets && (
            <MenuItem onSelect={() => setOpen('two_factor')}>
              <ShieldOff size={15} aria-hidden />
              {t('members.revoke_two_factor')}
            </MenuItem>
          )}
          {manages && (
            <>
              <MenuSeparator />
              <MenuItem danger onSelect={() => setOpen('remove')}>
                <UserMinus size={15} aria-hidden />
                {t('members.remove')}
              </MenuItem>
            </>
          )}
        </MenuContent>
      </Menu.Root>
      {Dialog && <Dialog person={person} colleagues={colleagues} onClose={() => setOpen(null)} />}
    </>
  );
}
