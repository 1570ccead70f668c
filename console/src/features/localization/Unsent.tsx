/** Texts that wait for the network; sent as soon as it is there. One that is refused then stays, and says so. */
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CloudOff } from 'lucide-react';
import { useEffect, useState } from 'react';
import { isRefusal } from '@/api/refusal';
import { useIdentity } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { toast } from '@/ui/toast';
import { pathOf, searchOf } from './address';
import { dropText, dropUnsent, readUnsent, type Unsent as One } from './kept';
import { nsOf, showMessage, submitText } from './queries';

const OFTEN = 3000;

export function Unsent() {
  const { t } = useLanguage();
  const { user } = useIdentity();
  const queries = useQueryClient();
  const [waiting, setWaiting] = useState(() => readUnsent(user.id));
  const [refused, setRefused] = useState<One[]>([]);
  useEffect(() => {
    let busy = false;
    const attempt = async () => {
      if (busy) return;
      busy = true;
      for (const one of readUnsent(user.id)) if (!(await sent(one))) break;
      busy = false;
      setWaiting(readUnsent(user.id));
    };
    /** Whether the next one can be tried. */
    const sent = async (one: One): Promise<boolean> => {
      try {
        showMessage(queries, await submitText(one.id, one.revision, one.text));
        dropText(user.id, one.id);
        toast(t('localization.saved'), { milliseconds: 2000 });
      } catch (error) {
        if (!isRefusal(error) || error.unreachable) return false;
        setRefused((all) => [...all.filter(({ id }) => id !== one.id), one]);
      }
      dropUnsent(user.id, one.id);
      return true;
    };
    const timer = setInterval(() => void attempt(), OFTEN);
    addEventListener('online', attempt);
    return () => {
      clearInterval(timer);
      removeEventListener('online', attempt);
    };
  }, [user.id, queries, t]);
  if (waiting.length + refused.length === 0) return null;
  return (
    <div role="status" data-testid="unsent" className="mb-4 grid gap-1 rounded-lg bg-warning-soft px-3 py-2.5 text-warning">
      {waiting.length > 0 && (
        <p className="flex items-center gap-2"><CloudOff size={15} aria-hidden />{t('localization.unsent', { n: waiting.length })}</p>
      )}
      {refused.map(({ id, locale, key }) => (
        <p key={id}>
          {t('localization.unsent_refused')}{' '}
          <Link to={pathOf('desk')} search={searchOf({ locale, ns: nsOf(key), key })} className="inline-flex h-6 items-center underline">
            <span data-raw>{key}</span>
          </Link>
        </p>
      ))}
    </div>
  );
}
