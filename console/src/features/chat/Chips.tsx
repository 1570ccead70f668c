/** The files of a question: before it is asked with their progress, afterwards by their names. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { FileText, LoaderCircle, RotateCw, X } from 'lucide-react';
import { objectQuery } from '@/api/repository';
import type { Upload } from '@/app/uploads/uploads';
import { useLanguage } from '@/i18n/language';
import { wordsFor } from '@/ui/Problem';
import type { Attachments } from './attachments';

const CHIP = 'inline-flex h-8 max-w-64 min-w-0 items-center gap-1.5 rounded-md border border-line bg-surface px-2 text-sm';
const BUTTON = '-me-1 grid size-6 shrink-0 place-items-center rounded-md text-muted hover:bg-raised hover:text-text';

export function Chosen({ list, remove, retry }: Attachments) {
  const { t } = useLanguage();
  if (list.length === 0) return null;
  return (
    <ul aria-label={t('chat.files')} className="mb-2 flex flex-wrap gap-2">
      {list.map((upload) => (
        <li key={upload.id} className="min-w-0">
          <Chip upload={upload} onRemove={() => remove(upload.id)} onRetry={() => retry(upload.id)} />
        </li>
      ))}
    </ul>
  );
}

function Chip({ upload, onRemove, onRetry }: { upload: Upload; onRemove: () => void; onRetry: () => void }) {
  const language = useLanguage();
  const { t } = language;
  const { file: { name }, state, error } = upload;
  const stuck = state === 'refused' || state === 'waiting';
  return (
    <span data-testid="chip" data-state={state} className={CHIP}>
      {state === 'done' || stuck ? (
        <FileText size={14} className="shrink-0 text-muted" aria-hidden />
      ) : (
        <LoaderCircle size={14} className="shrink-0 animate-spin text-muted" aria-hidden />
      )}
      <span data-raw className="truncate">{name}</span>
      {stuck && error && <span role="alert" className="min-w-0 text-danger">{wordsFor(language, error)}</span>}
      {stuck && (
        <button type="button" aria-label={t('chat.file_retry', { name })} onClick={onRetry} className={BUTTON}>
          <RotateCw size={14} aria-hidden />
        </button>
      )}
      <button type="button" aria-label={t('chat.file_remove', { name })} onClick={onRemove} className={BUTTON}>
        <X size={14} aria-hidden />
      </button>
    </span>
  );
}

/** A file of a question that was asked; by its name as soon as that is known. */
export function FileLink({ id }: { id: string }) {
  const { t } = useLanguage();
  const { data, error } = useQuery({ ...objectQuery(id), retry: false });
  if (error) return <span className={`${CHIP} text-muted`}><FileText size={14} aria-hidden />{t('chat.file_gone')}</span>;
  return (
    <Link to="/files/$id" params={{ id }} className={`${CHIP} hover:bg-raised`}>
      <FileText size={14} className="shrink-0 text-muted" aria-hidden />
      {data ? <span data-raw className="truncate">{data.filename}</span> : t('chat.file')}
    </Link>
  );
}
