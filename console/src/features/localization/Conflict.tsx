/** The message changed after it was opened: both texts, and which of them to go on with. */
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import type { Message } from './queries';

interface Props {
  message: Message;
  onTake: () => void;
  onMine: () => void;
}

export function Conflict({ message, onTake, onMine }: Props) {
  const { t } = useLanguage();
  return (
    <div role="alert" data-testid="conflict" className="grid gap-2 rounded-lg bg-warning-soft px-3 py-2.5">
      <p className="font-medium text-warning">{t('localization.conflict')}</p>
      <p data-raw lang={message.locale} className="wrap-anywhere whitespace-pre-wrap">{message.pending?.text ?? message.text}</p>
      <div className="flex flex-wrap gap-2">
        <Button size="small" onClick={onTake}>{t('localization.conflict_take')}</Button>
        <Button size="small" onClick={onMine}>{t('localization.conflict_mine')}</Button>
      </div>
    </div>
  );
}
