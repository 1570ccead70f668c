/** Starts a workflow with the inputs it declares. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { isRefusal } from '@/api/refusal';
import { useIdentity } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { gather, textOf, type Texts } from './inputs';
import { InputField } from './InputField';
import { toldIn } from './problems';
import { isToReview, Reach } from './Reach';
import { runQuery, startRun, workflowQuery } from './server';
import type { Definition } from './shapes';

export default function StartRun() {
  const { slug = '' } = useParams({ strict: false });
  const { from } = useSearch({ strict: false }) as { from?: string };
  const workflow = useQuery(workflowQuery(slug));
  // What an earlier run was given, to begin with.
  const earlier = useQuery({ ...runQuery(from ?? ''), enabled: from !== undefined, refetchInterval: false });
  if (!workflow.data || (from !== undefined && earlier.isPending)) return null;
  return <Form workflow={workflow.data} given={(earlier.data?.input ?? {}) as Record<string, unknown>} />;
}

function Form({ workflow, given }: { workflow: Definition; given: Record<string, unknown> }) {
  const { t } = useLanguage();
  const { slug, inputs } = workflow;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [texts, setTexts] = useState<Texts>(() => Object.fromEntries(Object.entries(given).map(([name, one]) => [name, textOf(one)])));
  const [tried, setTried] = useState(false);
  const { input, problems } = gather(inputs, texts);
  const review = isToReview(workflow, useIdentity().user.id);
  const start = useMutation({
    // Of any version, one's own too: another one may be published while this is open.
    mutationFn: () => startRun(slug, { input, accept: workflow.digest }),
    onError: (error) => {
      // What the workflow may do now is shown in place of what was looked at.
      if (isRefusal(error, 'workflows.review')) void queries.invalidateQueries({ queryKey: ['workflows'] });
    },
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ['runs'] });
      void queries.invalidateQueries({ queryKey: ['workflows'] });
      void navigate({ to: '/runs/$id', params: { id } });
    },
  });
  const told = new Map(toldIn(start.error).map(({ path, message }) => [String(path).split('/')[2] ?? '', String(message)]));
  const submit = () => {
    setTried(true);
    if (Object.keys(problems).length === 0) start.mutate();
  };
  const problemOf = (name: string) => (tried && problems[name] ? t(problems[name]) : told.get(name));
  const beside = isRefusal(start.error, 'workflows.bad_input') && Object.keys(inputs).some((name) => told.has(name));
  return (
    <FormDialog
      title={t('workflows.start_title', { name: workflow.title || slug })}
      description={t(Object.keys(inputs).length ? 'workflows.start_lead' : 'workflows.start_lead_none')}
      action={t('workflows.start')}
      busy={start.isPending}
      error={beside ? null : start.error}
      onSubmit={submit}
      onClose={() => void navigate({ to: '/workflows/$slug', params: { slug } })}
    >
      {review && <Reach workflow={workflow} />}
      {Object.entries(inputs).map(([name, declared]) => (
        <InputField
          key={name}
          name={name}
          declared={declared}
          text={texts[name] ?? ''}
          problem={problemOf(name)}
          onText={(text) => setTexts({ ...texts, [name]: text })}
        />
      ))}
    </FormDialog>
  );
}
