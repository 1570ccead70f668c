/** Every state something was in: compared, brought back and, where it is a file, saved. Of notes, documents and files alike. */
import { useMutation } from '@tanstack/react-query';
import { Download, GitCompare, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { IconButton } from '@/ui/Overlay';
import { toast } from '@/ui/toast';
import { useBytes } from '../bytes';
import { useLanguage } from '@/i18n/language';
import { lazyDialog } from '../lazy-dialog';
import { useMemberName } from '../member-name';
import type { Past, Texts } from './past';

const Comparison = lazyDialog(() => import('./Comparison'));
const NameDialog = lazyDialog(() => import('./NameDialog'));

interface Props<One extends Past> {
  versions: One[];
  /** The number of the one that stands. */
  current: number;
  texts: Texts;
  isText?: (version: One) => boolean;
  /** Makes it the newest and says which number it has then; absent where the reader may not write. */
  restore?: ((version: One) => Promise<number>) | undefined;
  /** Calls it something, or nothing any more; absent where versions have no names or the reader may not write. */
  onName?: ((version: One, name: string | null) => Promise<unknown>) | undefined;
  onDownload?: (version: One) => void;
}

export function VersionList<One extends Past>({ versions, current, texts, isText = () => true, restore, onName, onDownload }: Props<One>) {
  const comparable = versions.filter(isText);
  const [pair, setPair] = useState<[number, number] | null>(null);
  const [restoring, setRestoring] = useState<One | null>(null);
  const [naming, setNaming] = useState<One | null>(null);
  const newest = comparable[0]?.number;
  const compare = (version: One) => {
    if (newest === undefined) return;
    const other = version.number === newest ? comparable[1]?.number : version.number;
    if (other !== undefined) setPair([other, newest]);
  };
  return (
    <>
      <ol>
        {versions.map((version) => (
          <Row
            key={version.number}
            version={version}
            current={version.number === current}
            onCompare={comparable.length > 1 && comparable.includes(version) ? () => compare(version) : undefined}
            onRestore={restore && version.number !== current ? () => setRestoring(version) : undefined}
            onName={onName && (() => setNaming(version))}
            onDownload={onDownload && (() => onDownload(version))}
          />
        ))}
      </ol>
      {pair && <Comparison texts={texts} versions={comparable} pair={pair} onPair={setPair} onClose={() => setPair(null)} />}
      {naming && onName && <NameDialog version={naming} onName={(name) => onName(naming, name)} onClose={() => setNaming(null)} />}
      {restoring && restore && <Restore number={restoring.number} restore={() => restore(restoring)} onClose={() => setRestoring(null)} />}
    </>
  );
}

interface RowProps {
  version: Past;
  current: boolean;
  onCompare: (() => void) | undefined;
  onRestore: (() => void) | undefined;
  onName: (() => void) | undefined;
  onDownload: (() => void) | undefined;
}

function Row({ version, current, onCompare, onRestore, onName, onDownload }: RowProps) {
  const { t, dateTime } = useLanguage();
  const bytes = useBytes();
  const author = useMemberName(version.created_by);
  const { number: n } = version;
  return (
    <li data-testid="version" className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-5 py-3 last:border-0">
      <div className="min-w-0 flex-1 basis-52">
        <p className="flex flex-wrap items-center gap-2">
          <b className="font-medium">{t('versions.version', { n })}</b>
          {version.name && <span data-raw className="min-w-0 break-words">{version.name}</span>}
          {current && <Badge tone="success">{t('versions.current')}</Badge>}
        </p>
        {version.title !== undefined && <p data-raw className="truncate">{version.title}</p>}
        <p className="text-sm text-muted">
          <time dateTime={version.created_at}>{dateTime(version.created_at)}</time> · {bytes(version.size)}
          {author && <span data-raw> · {author}</span>}
        </p>
      </div>
      {onName && (
        <Button size="small" onClick={onName} aria-label={t('versions.name_title', { n })}>{t('versions.name')}</Button>
      )}
      {onCompare && (
        <Button size="small" onClick={onCompare} aria-label={t('versions.compare_version', { n })}>
          <GitCompare size={14} aria-hidden />
          {t('versions.compare')}
        </Button>
      )}
      {onRestore && (
        <Button size="small" onClick={onRestore} aria-label={t('versions.restore_version', { n })}>
          <RotateCcw size={14} aria-hidden />
          {t('versions.restore')}
        </Button>
      )}
      {onDownload && (
        <IconButton label={t('versions.download_version', { n })} onClick={onDownload}>
          <Download size={15} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}

function Restore({ number: n, restore, onClose }: { number: number; restore: () => Promise<number>; onClose: () => void }) {
  const { t } = useLanguage();
  const bringBack = useMutation({
    mutationFn: restore,
    onSuccess: (now) => {
      toast(t('versions.restored', { n, now }));
      onClose();
    },
  });
  return (
    <Confirm
      title={t('versions.restore_title', { n })}
      body={t('versions.restore_body')}
      action={t('versions.restore')}
      busy={bringBack.isPending}
      error={bringBack.error}
      onConfirm={() => bringBack.mutate()}
      onClose={onClose}
    />
  );
}
