import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import clsx from 'clsx';
import { useLanguage } from '@/app/language';
import { Page } from '@/app/Page';

const TABS = ['profile', 'security', 'preferences'] as const;

export default function AccountLayout() {
  const { t } = useLanguage();
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <Page title={t('account.title')} description={t('account.lead')} width="narrow">
      <nav aria-label={t('account.title')} className="mb-6 flex gap-1 overflow-x-auto border-b border-line">
        {TABS.map((tab) => {
          const here = path === `/account/${tab}`;
          return <Link key={tab} to={`/account/${tab}`} aria-current={here ? 'page' : undefined} className={clsx('-mb-px flex h-10 items-center border-b-2 px-3 font-medium whitespace-nowrap -outline-offset-2', here ? 'border-accent text-link' : 'border-transparent text-muted hover:text-text')}>{t(`account.${tab}`)}</Link>;
        })}
      </nav>
      <Outlet />
    </Page>
  );
}
