/** Where a limit comes from: who set it and when, the company's plan, or the server. */
import type { Usage } from '@/api/companies';
import { useLanguage } from '@/i18n/language';

export function LimitOrigin({ line: { source, set_by: by, set_at: at } }: { line: Usage }) {
  const { t, ago } = useLanguage();
  if (source === 'none') return null;
  const words =
    source === 'plan'
      ? t('usage.from_plan')
      : source === 'default'
        ? t('usage.from_default')
        : !at
          ? t('usage.from_limit_before')
          : by
            ? t('usage.from_limit', { name: by.name, when: ago(at) })
            : t('usage.from_limit_unnamed', { when: ago(at) });
  return <p data-testid="origin" className="text-sm text-muted">{words}</p>;
}
