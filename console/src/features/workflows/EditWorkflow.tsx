/** A workflow's spec, edited on top of its newest version, from an earlier one when that is asked for. */
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { written } from './examples';
import { workflowQuery } from './server';
import { SpecEditor } from './SpecEditor';
import { Absent } from './Absent';

export default function EditWorkflow() {
  const { slug = '' } = useParams({ strict: false });
  const { version } = useSearch({ strict: false }) as { version?: number };
  const newest = useQuery(workflowQuery(slug));
  const earlier = useQuery({ ...workflowQuery(slug, version), enabled: version !== undefined });
  const shown = version === undefined ? newest : earlier;
  if (!newest.data || !shown.data) {
    const failed = newest.error ? newest : shown;
    return <Absent of="workflows" error={failed.error} onRetry={() => void failed.refetch()} />;
  }
  const spec = Object.fromEntries(Object.entries(shown.data.spec).filter(([name]) => name !== 'version'));
  return (
    <SpecEditor
      key={slug}
      text={written(spec)}
      over={newest.data.version}
      slug={slug}
      title={newest.data.title || slug}
      fresh={version !== undefined}
    />
  );
}
