/** Every state the file was in: saved, compared, brought back. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Download, GitCompare, RotateCcw } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { membersQuery } from '@/api/queries';
import type { ObjectDetail, Version } from '@/api/repository';
import { useLanguage } from '@/app/language';
import { useIdentity } from '@/app/session';
import { Badge } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { IconButton } from '@/ui/Overlay';
import { toast } from '@/ui/toast';
import { useDownload } from './download';
import { isText, kindOf } from './kinds';
import { useBytes } from './parts';
import { restore } from './restoring';

const Comparison = lazy(() => import('./Comparison'));

export function Versions({ file, writes }: { file: ObjectDetail; writes: boolean }) {
  const { t } = useLanguage();
  const { team } = useIdentity();
  const shown = file.versions.filter((version) => !version.deleted);
  const comparable = shown.filter((version) => isText(kindOf(version)));
  const [pair, setPair] = useState<[number, number] | null>(null);
  const [restoring, setRestoring] = useState<Version | null>(null);
  const newest = comparable[0]?.number;
  const compare = (version: Version) => {
    if (newest === undefined) return;
    const other = version.number === newest ? comparable[1]?.number : version.number;
    if (other !== undefined) setPair([other, newest]);
  };
  return (
    <div>
      <ol>{shown.map((version) => <Row key={version.id} file={file} version={version} current={version.number === file.version.number} compares={comparable.length > 1 && comparable.includes(version)} onCompare={compare} restores={writes && file.team_id === team.id} onRestore={setRestoring} />)}</ol>
      {file.version_count > file.versions.length && <p className="px-5 py-3 text-sm text-muted">{t('files.older_versions', { n: file.version_count - file.versions.length })}</p>}
      {pair && <Suspense><Comparison file={file} versions={comparable} pair={pair} onPair={setPair} onClose={() => setPair(null)} /></Suspense>}
      {restoring && <Restore file={file} version={restoring} onClose={() => setRestoring(null)} />}
    </div>
  );
}

interface RowProps {
  file: ObjectDetail;
  version: Version;
  current: boolean;
  compares: boolean;
  onCompare: (version: Version) => void;
  restores: boolean;
  onRestore: (version: Version) => void;
}

function Row({ file, version, current, compares, onCompare, restores, onRestore }: RowProps) {
  const { t, dateTime } = useLanguage();
  const bytes = useBytes();
  const download = useDownload();
  const members = useQuery(membersQuery);
  const author = members.data?.find((member) => member.id === version.created_by)?.display_name;
  const { number: n } = version;
  return (
    <li data-testid="version" className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-5 py-3 last:border-0">
      <div className="min-w-0 flex-1 basis-52">
        <p className="flex flex-wrap items-center gap-2"><b className="font-medium">{t('files.version', { n })}</b>{current && <Badge tone="success">{t('files.current')}</Badge>}</p>
        <p className="text-sm text-muted"><time dateTime={version.created_at}>{dateTime(version.created_at)}</time> · {bytes(version.size)}{author && <span data-raw> · {author}</span>}</p>
      </div>
      {compares && <Button size="small" onClick={() => onCompare(version)} aria-label={t('files.compare_version', { n })}><GitCompare size={14} aria-hidden />{t('files.compare')}</Button>}
      {restores && !current && <Button size="small" onClick={() => onRestore(version)} aria-label={t('files.restore_version', { n })}><RotateCcw size={14} aria-hidden />{t('files.restore')}</Button>}
      <IconButton label={t('files.download_version', { n })} onClick={() => void download(file, n)}><Download size={15} aria-hidden /></IconButton>
    </li>
  );
}

function Restore({ file, version, onClose }: { file: ObjectDetail; version: Version; onClose: () => void }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const bringBack = useMutation({
    mutationFn: () => restore(file, version),
    onSuccess: (object) => {
      void queries.invalidateQueries({ queryKey: ['file', file.id] });
      void queries.invalidateQueries({ queryKey: ['files'] });
      toast(t('files.restored', { n: version.number, now: object.version.number }));
      onClose();
    },
  });
  return <Confirm title={t('files.restore_title', { n: version.number })} body={t('files.restore_body')} action={t('files.restore')} busy={bringBack.isPending} error={bringBack.error} onConfirm={() => bringBack.mutate()} onClose={onClose} />;
}
