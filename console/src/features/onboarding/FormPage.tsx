/** The sign-up form while it is edited: saved as a draft, compared with what visitors see, published, and brought back. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useState, type SetStateAction } from 'react';
import { isRefusal } from '@/api/refusal';
import type { Mode } from '@/app/colours/tokens';
import { Page } from '@/app/Page';
import { useLanguage } from '@/i18n/language';
import { Badge, Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Problem } from '@/ui/Problem';
import { toast } from '@/ui/toast';
import { Elsewhere } from './BoardPage';
import { faultsOf, isSame, whole, type Fault } from './editing';
import type { Experience } from './experience';
import { FieldList } from './FieldList';
import { Files } from './Files';
import { Judge } from './Judge';
import { Look } from './Look';
import { OwnPage } from './OwnPage';
import { Part } from './Part';
import { Preview } from './Preview';
import { PublishDialog } from './PublishDialog';
import { experienceQuery, readVersion, saveExperience, type Kept } from './queries';
import { Texts } from './Texts';
import { Views, VIEWS, type View } from './Views';

export default function FormPage() {
  const { t } = useLanguage();
  const query = useQuery({ ...experienceQuery, staleTime: Infinity });
  if (isRefusal(query.error, 'onboarding.missing')) return <Elsewhere />;
  return (
    <Page
      title={t('nav.sign_up_form')}
      description={t('onboarding.form_lead')}
      actions={query.data && <Badge>{t(`onboarding.form_${query.data.state}`)}</Badge>}
    >
      {query.isPending && <Card><SkeletonRows rows={6} label={t('app.loading')} /></Card>}
      {query.error && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && <Editor kept={query.data} />}
    </Page>
  );
}

function Editor({ kept }: { kept: Kept }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const [form, setForm] = useState(() => whole(kept.experience));
  const [publishing, setPublishing] = useState(false);
  const [view, show] = useView();
  const [mode, setMode] = useState<Mode>(() => (document.documentElement.dataset.mode === 'dark' ? 'dark' : 'light'));
  const changed = !isSame(form, whole(kept.experience));
  const faults = faultsOf(form);
  const save = useMutation({
    /** What was edited, or the number of a version that becomes the draft again. */
    mutationFn: async (next: Experience | number) =>
      saveExperience(typeof next === 'number' ? whole((await readVersion(next)).experience) : next, kept.revision),
    onSuccess: (saved) => {
      queries.setQueryData(experienceQuery.queryKey, saved);
      setForm(whole(saved.experience));
      toast(t('onboarding.form_saved'));
    },
    // Another person saved first: what was typed stays, and is saved on top once their draft was read.
    onError: (error) => isRefusal(error) && error.status === 412 && queries.invalidateQueries({ queryKey: experienceQuery.queryKey }),
  });
  const change = (next: SetStateAction<Experience>) => {
    save.reset();
    setForm(next);
  };
  return (
    <>
      <Views view={view} onView={show} faulty={new Set(faults.map((fault) => PLACES[fault]))} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 xl:grid-cols-[minmax(0,1fr)_26rem]">
        <div id="view" role="tabpanel" aria-labelledby={`tab-${view}`} className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-5">
          {view === 'fields' && (
            <Part title={t('onboarding.fields')} lead={t('onboarding.fields_lead')}><FieldList form={form} onChange={change} /></Part>
          )}
          {view === 'texts' && (
            <Part title={t('onboarding.texts')} lead={t('onboarding.texts_lead')}><Texts form={form} onChange={change} /></Part>
          )}
          {view === 'look' && <Files form={form} onChange={change} />}
          {view === 'look' && <Look form={form} mode={mode} onMode={setMode} onChange={change} />}
          {view === 'page' && <OwnPage form={form} onChange={change} />}
          {view === 'judge' && <Judge form={form} onChange={change} />}
          {view === 'versions' && <Versions kept={kept} onBring={(version) => save.mutate(version)} />}
        </div>
        {/* On a narrow screen what saves stays in sight, above what is edited. */}
        <div className="min-w-0 grid-cols-[minmax(0,1fr)] gap-5 max-xl:contents xl:sticky xl:top-6 xl:grid">
          <Card className="grid gap-3 p-4 max-xl:sticky max-xl:top-3 max-xl:z-20 max-xl:order-first max-md:top-15">
            {faults.map((fault) => (
              <p key={fault} role="status" className="flex items-start gap-2 text-danger">
                <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
                {t(`onboarding.fault_${fault}`)}
              </p>
            ))}
            <Problem error={save.error} />
            <Reasons error={save.error} />
            <div className="flex flex-wrap gap-2">
              <Button kind="primary" busy={save.isPending} disabled={!changed || faults.length > 0} onClick={() => save.mutate(form)}>
                {t('onboarding.save_draft')}
              </Button>
              <Button disabled={changed || kept.state !== 'draft'} onClick={() => setPublishing(true)}>{t('onboarding.publish')}</Button>
            </div>
          </Card>
          <Preview
            revision={kept.revision}
            languages={Object.keys(form.locales)}
            changed={changed}
            mode={mode}
            onMode={setMode}
          />
        </div>
      </div>
      {publishing && <PublishDialog kept={kept} onClose={() => setPublishing(false)} />}
    </>
  );
}

/** Where each fault is mended. */
const PLACES: Record<Fault, View> = {
  no_email: 'fields',
  names: 'fields',
  labels: 'fields',
  options: 'fields',
  contrast: 'look',
  origins: 'page',
};

/** The part of the editor that is open, in the address: it can be linked to. */
function useView(): [View, (view: View) => void] {
  const { view } = useSearch({ strict: false }) as { view?: unknown };
  const navigate = useNavigate();
  const show = (next: View) => void navigate({ to: '/settings/instance/sign-up-form', search: { view: next } as never, replace: true });
  return [VIEWS.find((one) => one === view) ?? 'fields', show];
}

/** What only the server can find out, in its own words: a mark that stands for nothing, a template that would run a script. */
function Reasons({ error }: { error: unknown }) {
  if (!isRefusal(error, 'onboarding.bad_experience')) return null;
  const { errors = [] } = error.facts as { errors?: { message: string }[] };
  return (
    <ul data-raw lang="en" dir="ltr" data-testid="reasons" className="list-disc ps-5 text-sm break-words text-danger">
      {errors.flatMap(({ message }) => message.split('; ')).map((one) => <li key={one}>{one}</li>)}
    </ul>
  );
}

function Versions({ kept, onBring }: { kept: Kept; onBring: (version: number) => void }) {
  const { t, dateTime } = useLanguage();
  return (
    <Part title={t('onboarding.versions')} lead={t('onboarding.versions_lead')}>
      {kept.versions.length === 0 && <p>{t('onboarding.versions_none')}</p>}
      <ol>
        {kept.versions.map(({ version, at, by }) => (
          <li
            key={version}
            data-testid="form-version"
            className="flex flex-wrap items-center gap-3 border-b border-line py-2 last:border-0"
          >
            <span className="min-w-0 flex-1 basis-40">
              <b className="font-medium">{t('onboarding.version', { n: version })}</b>
              <span className="block text-sm text-muted">{dateTime(at)}{by.username && <span data-raw> · {by.username}</span>}</span>
            </span>
            {version === kept.published?.version && <Badge tone="success">{t('onboarding.shown_now')}</Badge>}
            <Button size="small" onClick={() => onBring(version)} aria-label={t('onboarding.bring_back_name', { n: version })}>
              {t('onboarding.bring_back')}
            </Button>
          </li>
        ))}
      </ol>
    </Part>
  );
}
