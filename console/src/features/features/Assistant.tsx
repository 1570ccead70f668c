import { Link } from '@tanstack/react-router';
import { useLanguage } from '@/i18n/language';
import { Snippets } from '@/ui/Snippets';
import { assistantsAt } from './assistants';

/** How the team's tools are used from a program of one's own. */
export function Assistant() {
  const { t } = useLanguage();
  return (
    <div className="grid grid-cols-1 gap-3 p-4">
      <p>
        {t('features.assistant_token')}{' '}
        <Link to="/settings/tokens/new" className="font-medium text-link hover:underline">{t('features.assistant_make')}</Link>
      </p>
      <Snippets label={t('features.assistant_program')} texts={assistantsAt(`${location.origin}/mcp`)} />
    </div>
  );
}
