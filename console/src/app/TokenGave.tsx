/** What a token gave while it worked, shown once it is revoked: none of it ends with the token. */
import type { Schemas } from '@/api/client';
import { useLanguage, type Formatter } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Dialog, DialogActions } from '@/ui/Overlay';

type Given = Schemas['Given'];

export interface Gave {
  /** What the token was called. */
  name: string;
  gave: Given[];
}

/** The server tells no more of them. */
const MOST = 200;
const GIFTS = {
  'identity.token_issued': 'tokens.gave_token',
  's3.key_issued': 'tokens.gave_key',
  'identity.reset_link_made': 'tokens.gave_reset',
  'executors.created': 'tokens.gave_executor',
} as const;

export function TokenGave({ name, gave, onClose }: Gave & { onClose: () => void }) {
  const language = useLanguage();
  const { t, ago } = language;
  return (
    <Dialog open reading onClose={onClose} title={t('tokens.gave_title', { name })} description={t('tokens.gave_lead')}>
      <ul className="divide-y divide-line">
        {gave.map((one) => (
          <li key={`${one.at} ${one.subject}`} data-testid="gave" className="flex flex-wrap items-baseline justify-between gap-x-3 py-2">
            <span className="min-w-0 wrap-anywhere">{wordsOf(one, language)}</span>
            <span className="text-sm text-muted">{ago(one.at)}</span>
          </li>
        ))}
      </ul>
      {gave.length >= MOST && <p className="mt-2 text-sm text-muted">{t('tokens.gave_more', { n: MOST })}</p>}
      <DialogActions><Button kind="primary" onClick={onClose}>{t('ui.done')}</Button></DialogActions>
    </Dialog>
  );
}

function wordsOf({ kind, name, role, org_role: orgRole }: Given, { t, find }: Pick<Formatter, 't' | 'find'>): string {
  if (kind in GIFTS) return t(GIFTS[kind as keyof typeof GIFTS], { name });
  const roles = [role && (find(`members.role_${role}`) ?? role), orgRole && (find(`members.${orgRole}`) ?? orgRole)].filter(Boolean);
  if (roles.length === 0) return t('tokens.gave_role_taken', { name });
  return t(kind === 'identity.role_changed' || kind === 'companies.role_set' ? 'tokens.gave_role' : 'tokens.gave_member', {
    name,
    role: roles.join(', '),
  });
}
