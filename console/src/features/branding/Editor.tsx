/** The look of a company or of the instance: edited beside a preview, saved only when everybody can read it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCcw, TriangleAlert } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import { isRefusal } from '@/api/refusal';
import { useLanguage } from '@/i18n/language';
import { Colours } from '@/app/colours/Colours';
import { ContrastMeter } from '@/app/colours/ContrastMeter';
import { judge, paletteOf } from '@/app/colours/contrast';
import { ModeSwitch, Section, type Refused } from '@/app/colours/parts';
import { Shape } from '@/app/colours/Shape';
import { modeOf, type Mode, type Theme } from '@/app/colours/tokens';
import { Page } from '@/app/Page';
import { Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { TextField } from '@/ui/Field';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Logo } from './Logo';
import { draftOf, isChanged, isOwn, type Draft, type Look, type Place } from './look';
import { Preview } from './Preview';

interface Props {
  title: string;
  lead: string;
  /** Whose look shows through where nothing is set. */
  from: string;
  place: Place;
  writable: boolean;
}

export function Editor({ title, lead, from, place, writable }: Props) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const queryKey = ['branding', place.name];
  const query = useQuery({ queryKey, queryFn: place.read, staleTime: Infinity });
  const keep = (look: Look) => {
    queries.setQueryData(queryKey, look);
    void queries.invalidateQueries({ queryKey: ['look'] });
  };
  return (
    <Page
      title={title}
      description={lead}
      actions={
        query.data && (isOwn(query.data) ? <Badge tone="accent">{t('branding.own')}</Badge> : <Badge>{t('branding.inherited')}</Badge>)
      }
    >
      {query.isPending && <Card><SkeletonRows rows={8} label={t('app.loading')} /></Card>}
      {query.error && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && !isOwn(query.data) && <p className="mb-5 rounded-lg bg-info-soft px-4 py-3 text-info">{from}</p>}
      {query.data && <Form look={query.data} place={place} writable={writable} onKept={keep} onStale={() => void query.refetch()} />}
    </Page>
  );
}

interface FormProps {
  look: Look;
  place: Place;
  writable: boolean;
  onKept: (look: Look) => void;
  /** Somebody else saved first: the draft stays and is saved on top once that was read. */
  onStale: () => void;
}

function Form({ look, place, writable, onKept, onStale }: FormProps) {
  const { t } = useLanguage();
  const [draft, setDraft] = useState(() => draftOf(look));
  const [mode, setMode] = useState<Mode>(() => (document.documentElement.dataset.mode === 'dark' ? 'dark' : 'light'));
  const palette = useMemo(() => paletteOf(look.inherited.theme, draft.theme), [look, draft.theme]);
  const judged = useMemo(() => judge(palette), [palette]);
  const broken = judged.filter((one) => !one.passes);
  const save = useMutation({
    mutationFn: () => place.save(draft, look.revision),
    onSuccess: (saved) => {
      toast(t('branding.saved'));
      onKept(saved);
    },
    onError: (error) => {
      const token = refusedBy(error)?.token;
      if (token) setMode(modeOf(token));
      if (isRefusal(error, 'branding.stale')) onStale();
    },
  });
  const setTheme = (change: (theme: Theme) => Theme) => {
    save.reset();
    setDraft((now) => ({ ...now, theme: change(now.theme) }));
  };
  const setToken = (token: string, colour: string | null) =>
    setTheme((theme) =>
      colour === null ? Object.fromEntries(Object.entries(theme).filter(([name]) => name !== token)) : { ...theme, [token]: colour },
    );
  const refused = refusedBy(save.error);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,1fr)_24rem]">
      <fieldset disabled={!writable} className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-5">
        <legend className="sr-only">{t('branding.settings')}</legend>
        <Words draft={draft} look={look} onChange={(next) => setDraft({ ...draft, ...next })} />
        <Logo look={look} place={place} onKept={onKept} />
        <Shape theme={draft.theme} inherited={look.inherited.theme} onToken={setToken} />
        <Colours mode={mode} onMode={setMode} own={draft.theme} palette={palette} broken={broken} refused={refused} onToken={setToken} />
      </fieldset>
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-5 xl:sticky xl:top-6">
        <Section title={t('branding.preview')} action={<ModeSwitch mode={mode} onMode={setMode} />}>
          <Preview
            palette={palette}
            theme={{ ...look.inherited.theme, ...draft.theme }}
            mode={mode}
            title={draft.title.trim() || look.inherited.title}
            tagline={draft.tagline.trim() || look.inherited.tagline}
            logo={look.logo}
          />
        </Section>
        {writable && (
          <SaveBar
            blocked={broken.length}
            changed={isChanged(draft, look)}
            busy={save.isPending}
            error={refused ? null : save.error}
            onSave={() => save.mutate()}
            onDiscard={() => setDraft(draftOf(look))}
            reset={
              isOwn(look) ? (
                <Reset
                  look={look}
                  place={place}
                  onReset={(after) => {
                    setDraft(draftOf(after));
                    onKept(after);
                  }}
                />
              ) : null
            }
          />
        )}
        <ContrastMeter judged={judged} mode={mode} own={draft.theme} palette={palette} onFix={setToken} writable={writable} />
      </div>
    </div>
  );
}

function refusedBy(error: Error | null): Refused | null {
  if (!isRefusal(error, 'branding.bad_token')) return null;
  const { token, nearest } = error.facts as { token?: string; nearest?: string | null };
  return token ? { token, nearest: nearest ?? null } : null;
}

function Words({ draft, look, onChange }: { draft: Draft; look: Look; onChange: (next: Partial<Draft>) => void }) {
  const { t } = useLanguage();
  return (
    <Section title={t('branding.words')} lead={t('branding.words_lead')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('branding.title_field')}
          value={draft.title}
          maxLength={80}
          placeholder={look.inherited.title}
          data-raw
          onChange={(event) => onChange({ title: event.target.value })}
          hint={draft.title.trim() ? undefined : t('branding.inherited_hint')}
        />
        <TextField
          label={t('branding.tagline')}
          value={draft.tagline}
          maxLength={200}
          placeholder={look.inherited.tagline}
          data-raw
          onChange={(event) => onChange({ tagline: event.target.value })}
          hint={draft.tagline.trim() ? undefined : t('branding.inherited_hint')}
        />
      </div>
    </Section>
  );
}

function SaveBar({
  blocked,
  changed,
  busy,
  error,
  onSave,
  onDiscard,
  reset,
}: {
  blocked: number;
  changed: boolean;
  busy: boolean;
  error: Error | null;
  onSave: () => void;
  onDiscard: () => void;
  reset: ReactNode;
}) {
  const { t } = useLanguage();
  return (
    <Card className="grid gap-3 p-4">
      {blocked > 0 && (
        <p role="status" className="flex items-start gap-2 text-danger">
          <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
          {t('branding.blocked', { n: blocked })}
        </p>
      )}
      <Problem error={error} />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" busy={busy} disabled={!changed || blocked > 0} onClick={onSave}>{t('ui.save')}</Button>
        {changed && <Button kind="ghost" onClick={onDiscard}>{t('branding.discard')}</Button>}
        {!changed && reset}
      </div>
    </Card>
  );
}

function Reset({ look, place, onReset }: { look: Look; place: Place; onReset: (look: Look) => void }) {
  const { t } = useLanguage();
  const [asking, setAsking] = useState(false);
  const reset = useMutation({
    mutationFn: () => place.reset(look),
    onSuccess: (after) => {
      setAsking(false);
      toast(t('branding.was_reset'));
      onReset(after);
    },
  });
  return (
    <>
      <Button kind="danger-ghost" onClick={() => setAsking(true)}>
        <RotateCcw size={14} aria-hidden />
        {t('branding.reset')}
      </Button>
      {asking && (
        <Confirm
          title={t('branding.reset_title')}
          body={t('branding.reset_body')}
          action={t('branding.reset')}
          busy={reset.isPending}
          error={reset.error}
          onConfirm={() => reset.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
