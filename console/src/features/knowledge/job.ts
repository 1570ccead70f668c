/** A job that is waited for on screen: what came of it once it has ended. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Schemas } from '@/api/client';
import { hasEnded, jobQuery } from './queries';

type Job = Schemas['Job'];

interface Awaited<Asked> {
  start: (asked: Asked) => void;
  busy: boolean;
  /** It was refused before it was queued. */
  error: Error | null;
  /** As it stands; null before it is queued. */
  job: Job | null;
}

export function useJob<Asked>(queue: (asked: Asked) => Promise<Job>, onDone: (job: Job) => void): Awaited<Asked> {
  const [id, setId] = useState('');
  const queued = useMutation({ mutationFn: queue, onSuccess: (job) => setId(job.id) });
  const { data: job = null } = useQuery({ ...jobQuery(id), enabled: id !== '' });
  const done = job?.state === 'succeeded';
  useEffect(() => {
    if (done) onDone(job);
    // Once for each job, whatever is drawn meanwhile.
    // eslint-disable-next-line hooks/exhaustive-deps
  }, [done, id]);
  return {
    start: queued.mutate,
    busy: queued.isPending || (id !== '' && (job === null || !hasEnded(job))),
    error: queued.error,
    job,
  };
}
