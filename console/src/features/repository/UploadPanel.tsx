/** What is on its way up: how far each file is, and what can be done about it. */
import clsx from 'clsx';
import { CircleAlert, CircleCheckBig, CloudOff, RotateCw, Upload as UploadIcon, X } from 'lucide-react';
import { useBytes } from '@/app/bytes';
import { isLarge, type Upload, type Uploads, type UploadState } from '@/app/uploads/uploads';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { IconButton } from '@/ui/Overlay';
import { wordsFor } from '@/ui/Problem';
import { nameIn } from './keys';
import { useSeconds } from './seconds';

const LOOK = {
  queued: [UploadIcon, 'text-muted'],
  sending: [UploadIcon, 'text-link'],
  waiting: [CloudOff, 'text-warning'],
  done: [CircleCheckBig, 'text-success'],
  refused: [CircleAlert, 'text-danger'],
} as const satisfies Record<UploadState, unknown>;

export default function UploadPanel({ uploads, list }: { uploads: Uploads; list: readonly Upload[] }) {
  const { t } = useLanguage();
  if (list.length === 0) return null;
  const left = list.filter((one) => one.state !== 'done' && one.state !== 'refused').length;
  return (
    <Card className="mb-5 overflow-hidden">
      <section aria-label={t('files.uploads')}>
        <div className="flex items-center gap-3 border-b border-line px-4 py-2.5">
          <h2 className="flex-1 font-semibold">
            <span role="status">{left ? t('files.uploading', { n: left }) : t('files.uploads_over')}</span>
          </h2>
          {left < list.length && (
            <Button size="small" kind="ghost" onClick={() => uploads.clear()}>{t('files.uploads_clear')}</Button>
          )}
        </div>
        <ul className="max-h-72 divide-y divide-line overflow-y-auto">
          {list.map((upload) => <Row key={upload.id} upload={upload} uploads={uploads} />)}
        </ul>
      </section>
    </Card>
  );
}

function Row({ upload, uploads }: { upload: Upload; uploads: Uploads }) {
  const { t } = useLanguage();
  const [Icon, tone] = LOOK[upload.state];
  const name = nameIn(upload.key);
  const moving = upload.state === 'sending' || upload.state === 'queued' || (upload.state === 'waiting' && isLarge(upload.file));
  return (
    <li data-testid="upload" data-state={upload.state} className="flex items-center gap-3 px-4 py-2.5">
      <Icon size={17} aria-hidden className={clsx('shrink-0', tone)} />
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline justify-between gap-x-3">
          <span data-raw className="max-w-full truncate font-medium">{name}</span>
          <News upload={upload} />
        </div>
        {moving && (
          <progress
            aria-label={t('files.progress_of', { name })}
            value={upload.sent}
            max={upload.file.size || 1}
            className="mt-1.5 block h-1.5 w-full appearance-none overflow-hidden rounded-full bg-raised [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:rounded-full [&::-webkit-progress-value]:bg-accent"
          />
        )}
        {upload.state === 'refused' && <Why upload={upload} />}
      </div>
      {(upload.state === 'waiting' || upload.state === 'refused') && (
        <IconButton label={t('files.retry_name', { name })} onClick={() => uploads.retry(upload.id)}>
          <RotateCw size={15} aria-hidden />
        </IconButton>
      )}
      {upload.state !== 'done' && (
        <IconButton label={t('files.cancel_name', { name })} onClick={() => uploads.cancel(upload.id)}>
          <X size={16} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}

function News({ upload }: { upload: Upload }) {
  const { t, number } = useLanguage();
  const bytes = useBytes();
  const now = useSeconds(upload.state === 'waiting');
  const { state, sent, file } = upload;
  const words = {
    queued: t('files.state_queued'),
    sending:
      sent >= file.size
        ? t('files.state_storing')
        : t('files.state_sending', { percent: number(Math.floor((sent / (file.size || 1)) * 100)), size: bytes(file.size) }),
    waiting: t(isLarge(file) ? 'files.state_resuming' : 'files.state_waiting', { n: Math.max(0, Math.ceil((upload.next - now) / 1000)) }),
    done: t('files.state_done', { size: bytes(file.size) }),
    refused: t('files.state_refused'),
  }[state];
  return (
    <span className={clsx('text-sm tnum', state === 'waiting' ? 'text-warning' : state === 'refused' ? 'text-danger' : 'text-muted')}>
      {words}
    </span>
  );
}

function Why({ upload }: { upload: Upload }) {
  const language = useLanguage();
  return upload.error && <p className="text-sm text-danger">{wordsFor(language, upload.error)}</p>;
}
