/** Who signed up: what they answered, what looked odd, what the judge says, and what a person decides. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { SearchX, UserRoundPlus } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { isRefusal } from '@/api/refusal';
import { FindField } from '@/app/FindField';
import { Page } from '@/app/Page';
import { OPERATOR, useMay } from '@/app/session';
import { useShortcuts } from '@/app/shortcuts';
import { useLanguage } from '@/i18n/language';
import { Card, Code } from '@/ui/bits';
import { Button, buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { DecideDialog, type Deed } from './DecideDialog';
import { Numbers } from './Numbers';
import { ProspectRow } from './ProspectRow';
import { deedsFor } from './deeds';
import { experienceQuery, homeQuery, prospectsQuery, STATES, VERDICTS, type Prospect, type Wanted } from './queries';

type Change = { [Name in keyof Wanted]?: Wanted[Name] | undefined };

/** Filters in the address: they can be linked to and pinned. */
function useAddress(): [Wanted, (change: Change) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const without = (all: Change) => Object.fromEntries(Object.entries(all).filter(([, one]) => one)) as Wanted;
  const wanted = without({
    q: search.q === undefined ? undefined : String(search.q),
    state: STATES.find((one) => one === search.state),
    verdict: VERDICTS.find((one) => one === search.verdict),
  });
  const change = (next: Change) =>
    void navigate({ to: '/settings/instance/sign-ups', search: without({ ...wanted, ...next }) as never, replace: true });
  return [wanted, change];
}

export default function BoardPage() {
  const { t } = useLanguage();
  const [wanted, change] = useAddress();
  const [deed, setDeed] = useState<Deed | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  // Filters that were all taken away start anew, with an empty field.
  const [fresh, setFresh] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const found = useInfiniteQuery({ ...prospectsQuery(wanted), placeholderData: keepPreviousData });
  const form = useQuery(experienceQuery);
  const items = found.data?.pages.flatMap((page) => page.items);
  const narrowed = Object.keys(wanted).length > 0;
  const forget = () => {
    change(NONE);
    setFresh(fresh + 1);
  };
  useRowKeys(list);
  useDeeds(list, items ?? [], setDeed);
  if (isRefusal(found.error, 'onboarding.missing')) return <Elsewhere />;
  return (
    <Page
      title={t('nav.sign_ups')}
      description={t('onboarding.lead')}
      actions={<Link to="/settings/instance/sign-up-form" className={buttonClass()}>{t('nav.sign_up_form')}</Link>}
    >
      <Numbers days={found.data?.pages[0]?.funnel ?? []} />
      <Filters key={fresh} wanted={wanted} change={change} />
      <ListPage
        query={found}
        empty={items?.length === 0 && !found.isPlaceholderData && (narrowed ? <NoMatch onForget={forget} /> : <HowToStart />)}
      >
        {items && items.length > 0 && (
          <ul ref={list} aria-label={t('nav.sign_ups')}>
            {items.map((one) => (
              <ProspectRow
                key={one.id}
                prospect={one}
                fields={form.data?.experience.fields ?? []}
                open={open === one.id}
                onToggle={() => setOpen(open === one.id ? null : one.id)}
                onDeed={(kind) => setDeed({ kind, prospect: one })}
              />
            ))}
          </ul>
        )}
      </ListPage>
      {deed && <DecideDialog deed={deed} onClose={() => setDeed(null)} />}
    </Page>
  );
}

const NONE: Change = { q: undefined, state: undefined, verdict: undefined };

/** A letter decides about the row that has the focus. */
function useDeeds(list: { current: HTMLElement | null }, items: Prospect[], onDeed: (deed: Deed) => void): void {
  const may = useMay();
  const now = useRef<(kind: Deed['kind']) => void>(() => undefined);
  useEffect(() => {
    now.current = (kind) => {
      const id = document.activeElement?.closest<HTMLElement>('[data-prospect]')?.dataset.prospect;
      const prospect = list.current && items.find((one) => one.id === id);
      if (prospect && deedsFor(prospect, may(OPERATOR)).includes(kind)) onDeed({ kind, prospect });
    };
  });
  useShortcuts([
    { keys: 'a', label: 'onboarding.key_accept', run: () => now.current('accept') },
    ...(may(OPERATOR) ? [{ keys: 'i', label: 'onboarding.key_invite' as const, run: () => now.current('invite') }] : []),
    { keys: 'd', label: 'onboarding.key_decline', run: () => now.current('decline') },
  ]);
}

function Filters({ wanted, change }: { wanted: Wanted; change: (next: Change) => void }) {
  const { t } = useLanguage();
  return (
    <div role="search" className="mb-3 flex flex-wrap gap-2">
      <FindField
        q={wanted.q ?? ''}
        label={t('onboarding.field')}
        shortcut="onboarding.focus"
        className="flex-1 basis-56"
        onFind={(q) => change({ q })}
      />
      <select
        aria-label={t('onboarding.state')}
        value={wanted.state ?? ''}
        onChange={(event) => change({ state: STATES.find((one) => one === event.target.value) })}
        className="field w-auto pe-8"
      >
        <option value="">{t('onboarding.every_state')}</option>
        {STATES.map((one) => <option key={one} value={one}>{t(`onboarding.state_${one}`)}</option>)}
      </select>
      <select
        aria-label={t('onboarding.verdict')}
        value={wanted.verdict ?? ''}
        onChange={(event) => change({ verdict: VERDICTS.find((one) => one === event.target.value) })}
        className="field w-auto pe-8"
      >
        <option value="">{t('onboarding.every_verdict')}</option>
        {VERDICTS.map((one) => <option key={one} value={one}>{t(`onboarding.verdict_${one}`)}</option>)}
      </select>
    </div>
  );
}

function NoMatch({ onForget }: { onForget: () => void }) {
  const { t } = useLanguage();
  return (
    <Empty
      icon={SearchX}
      title={t('onboarding.no_match_title')}
      body={t('onboarding.no_match_body')}
      action={<Button onClick={onForget}>{t('onboarding.show_all')}</Button>}
    />
  );
}

/** No sign-up yet: where the form is, or how the server comes to show it. */
function HowToStart() {
  const { t, rich } = useLanguage();
  const home = useQuery(homeQuery);
  const code = (parts: ReactNode) => <Code key="code">{parts}</Code>;
  const shown = home.data === 'beta';
  return (
    <div data-testid="how-to-start">
      <Empty
        icon={UserRoundPlus}
        title={t('onboarding.none_title')}
        body={t('onboarding.none_body')}
        action={<Link to="/settings/instance/sign-up-form" className={buttonClass('primary')}>{t('onboarding.open_form')}</Link>}
      />
      <ol className="mx-auto grid max-w-xl list-decimal gap-2 px-10 pb-10 text-muted">
        <li>{t('onboarding.start_form')}</li>
        <li>
          {shown
            ? rich('onboarding.start_shown', { address: location.origin, code })
            : rich('onboarding.start_home', { setting: 'SERVICE_HOME=beta', code })}
        </li>
        <li>{rich('onboarding.start_embed', { script: `<script src="${location.origin}/beta-sdk.js"></script>`, code })}</li>
      </ol>
    </div>
  );
}

/** The form belongs to the instance's first team, and this is another. */
export function Elsewhere() {
  const { t } = useLanguage();
  return (
    <Page title={t('nav.sign_ups')}>
      <Card>
        <Empty
          icon={UserRoundPlus}
          title={t('onboarding.elsewhere_title')}
          body={t('onboarding.elsewhere_body')}
          action={<Link to="/settings" className={buttonClass()}>{t('nav.settings')}</Link>}
        />
      </Card>
    </Page>
  );
}
