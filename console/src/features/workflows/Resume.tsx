/** Goes on with an ended run at a step, as a new run; on a mended version when there is one. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { isRefusal } from '@/api/refusal';
import { useIdentity } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { SelectField } from '@/ui/Field';
import { FormDialog } from '@/ui/FormDialog';
import { isToReview, Reach } from './Reach';
import { startRun, workflowQuery } from './server';
import type { Run } from './shapes';

export interface Point {
  step: string;
  /** Of a map, which items; absent for any other step. */
  items?: 'failed' | 'all';
}

export default function Resume({ run, at, onClose }: { run: Run; at: Point; onClose: () => void }) {
  const { t, number } = useLanguage();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { slug, version: old } = run.workflow;
  const newest = useQuery({ ...workflowQuery(slug), refetchOnMount: 'always' });
  const [chosen, setChosen] = useState<number | null>(null);
  const last = newest.data?.version ?? old;
  const version = chosen ?? last;
  const workflow = useQuery({ ...workflowQuery(slug, version), enabled: newest.isFetchedAfterMount }).data;
  const { id: user_id } = useIdentity().user;
  const resume = useMutation({
    mutationFn: () =>
      startRun(slug, {
        version,
        resume: { run_id: run.id, step: at.step, ...(at.items ? { items: at.items } : {}) },
        ...(workflow ? { accept: workflow.digest } : {}),
      }),
    onError: (error) => {
      if (isRefusal(error, 'workflows.review')) void queries.invalidateQueries({ queryKey: ['workflows'] });
    },
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ['runs'] });
      onClose();
      void navigate({ to: '/runs/$id', params: { id } });
    },
  });
  const refused = isRefusal(resume.error, 'workflows.cannot_resume') ? resume.error.facts['detail'] : null;
  return (
    <FormDialog
      title={t(at.items === 'failed' ? 'runs.retry_title' : 'runs.resume_title', { step: at.step })}
      description={t(at.items === 'failed' ? 'runs.retry_lead' : 'runs.resume_lead')}
      action={t(at.items === 'failed' ? 'runs.retry_items' : 'runs.resume')}
      busy={resume.isPending}
      disabled={!workflow}
      error={resume.error}
      onSubmit={() => resume.mutate()}
      onClose={onClose}
    >
      {last !== old && (
        <SelectField
          label={t('workflows.version')}
          hint={t('runs.version_hint')}
          value={version}
          onChange={(event) => setChosen(Number(event.target.value))}
        >
          <option value={last}>{t('runs.version_newest', { n: number(last) })}</option>
          <option value={old}>{t('runs.version_same', { n: number(old) })}</option>
        </SelectField>
      )}
      {workflow && isToReview(workflow, user_id) && <Reach workflow={workflow} />}
      {typeof refused === 'string' && <p data-raw className="text-sm wrap-anywhere text-muted">{refused}</p>}
    </FormDialog>
  );
}
