/** What is wrong with a text, in the reader's language; what only the server knows in its own words. */
import { CircleAlert, CircleCheckBig, TriangleAlert } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import type { Check } from './checks';
import type { Message } from './queries';

interface Props {
  id?: string;
  checks: Check[];
  message: Message;
  /** The text that is judged. */
  text: string;
}

const LOOKS = { error: [CircleAlert, 'text-danger'], warning: [TriangleAlert, 'text-warning'] } as const;

/** The server alone has the glossary; the rest it finds is found here as well. */
const ofServer = ({ pending, machine, text: drafted }: Message, text: string) => {
  const found = pending?.text === text ? pending.checks : drafted === text ? machine?.checks : undefined;
  return (found ?? []).filter(({ code }) => code === 'glossary');
};

export function CheckList({ id, checks, message, text }: Props) {
  const { t } = useLanguage();
  const more = ofServer(message, text);
  return (
    <div id={id} role="status" data-testid="checks">
      {checks.length + more.length === 0 && text !== '' && (
        <p className="flex items-center gap-2 text-sm text-success">
          <CircleCheckBig size={15} aria-hidden />
          {t('localization.check_fine')}
        </p>
      )}
      <ul className="grid gap-1 text-sm">
        {checks.map(({ code, level, values }) => {
          const [Icon, look] = LOOKS[level];
          return (
            <li key={code + JSON.stringify(values)} data-code={code} className={`flex items-start gap-2 ${look}`}>
              <Icon size={15} aria-hidden className="mt-0.5 shrink-0" />
              {t(`localization.check_${code}`, values)}
            </li>
          );
        })}
        {more.map((one) => (
          <li key={one.message} className="flex items-start gap-2 text-warning">
            <TriangleAlert size={15} aria-hidden className="mt-0.5" />
            <span data-raw>{one.message}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
