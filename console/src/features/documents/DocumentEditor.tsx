import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { ArrowLeft, Eye, History, PenLine, Share2, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '@/api/client';
import { useDelete } from '@/app/deleting';
import type { useAbilities } from '@/app/abilities';
import { useLanguage } from '@/i18n/language';
import { CurlButton, PinButton } from '@/app/Page';
import { useShortcuts } from '@/app/shortcuts';
import { useTitle } from '@/app/title';
import { TextBody } from '@/app/writing/TextBody';
import { TitleField } from '@/app/writing/TitleField';
import type { Autosave, Snapshot } from '@/app/writing/autosave';
import { SaveNews } from '@/app/writing/SaveNews';
import { buttonClass } from '@/ui/Button';
import { IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import type { Document } from './server';


interface Props {
  autosave: Autosave<Document>;
  snapshot: Snapshot<Document>;
}

export function DocumentEditor({ autosave, snapshot, may }: Props & { may: ReturnType<typeof useAbilities> }) {
  const { t } = useLanguage();
  const { fresh } = useSearch({ strict: false }) as { fresh?: boolean };
  const navigate = useNavigate();
  const [writing, setWriting] = useState(may.writes);
  const remove = useDelete();
  const { kept, text, error, state } = snapshot;
  const drop = async () => {
    const { id, title } = kept;
    if (await remove({ id, name: title, remove: () => api.DELETE('/api/documents/{id}', { params: { path: { id } } }) })) {
      await navigate({ to: '/documents' });
    }
  };
  useTitle(text.title || t('documents.untitled'));
  useShortcuts([
    {
      keys: 'h',
      label: 'documents.history',
      run: () => void navigate({ to: '/files/$id', params: { id: kept.id }, search: { view: 'versions' } as never }),
    },
    ...(may.writes ? [{ keys: 'e', label: 'documents.key_edit', run: () => setWriting((now) => !now) } as const] : []),
  ]);
  return (
    <article className="flex min-h-dvh flex-col bg-surface">
      <div className="sticky top-13 z-20 flex min-h-13 flex-wrap items-center gap-x-2 gap-y-1 border-b border-line bg-surface px-2 py-2 sm:px-4 md:top-0">
        <Link
          to="/documents"
          aria-label={t('documents.all')}
          className="grid size-8 place-items-center rounded-md text-muted hover:bg-raised"
        >
          <ArrowLeft size={17} aria-hidden className="rtl:rotate-180" />
        </Link>
        <SaveNews snapshot={snapshot} />
        <div className="ms-auto flex items-center gap-1.5">
          {may.writes && <Turn writing={writing} onTurn={setWriting} />}
          <Link
            to="/files/$id"
            params={{ id: kept.id }}
            search={{ view: 'versions' } as never}
            className={buttonClass('default', 'small', 'h-8')}
          >
            <History size={14} aria-hidden />
            <span className="max-sm:sr-only">{t('documents.history')}</span>
          </Link>
          {may.manages && (
            <Link
              to="/files/$id"
              params={{ id: kept.id }}
              search={{ share: true } as never}
              className={buttonClass('default', 'small', 'h-8')}
            >
              <Share2 size={14} aria-hidden />
              <span className="max-sm:sr-only">{t('files.share')}</span>
            </Link>
          )}
          <PinButton title={text.title || t('documents.untitled')} raw />
          <CurlButton />
          {may.deletes && (
            <IconButton label={t('documents.delete')} onClick={() => void drop()}>
              <Trash2 size={16} aria-hidden />
            </IconButton>
          )}
        </div>
      </div>
      <div className="mx-auto w-full max-w-3xl flex-1 px-4 py-6 sm:px-8 lg:py-10">
        {error && state === 'refused' && <div className="mb-4"><Problem error={error} onRetry={() => void autosave.flush()} /></div>}
        {snapshot.restored && <p role="status" className="mb-4 rounded-lg bg-info-soft px-3 py-2.5 text-info">{t('writing.restored')}</p>}
        <TitleField
          title={snapshot.text.title}
          writing={writing}
          select={fresh === true}
          label={t('writing.title_field')}
          placeholder={t('writing.title_field')}
          onTitle={(title) => autosave.edit({ title })}
        />
        <TextBody
          body={snapshot.text.body}
          writing={writing}
          generation={snapshot.generation}
          onBody={(body) => autosave.edit({ body })}
          label={t('documents.body')}
          placeholder={t('documents.body_placeholder')}
          empty={t('documents.empty_body')}
        />
      </div>
    </article>
  );
}

function Turn({ writing, onTurn }: { writing: boolean; onTurn: (writing: boolean) => void }) {
  const { t } = useLanguage();
  return (
    <div role="group" aria-label={t('documents.view')} className="flex rounded-md bg-raised p-0.5">
      {(
        [
          [true, PenLine, 'documents.write'],
          [false, Eye, 'documents.preview'],
        ] as const
      ).map(([turn, Icon, label]) => (
        <button
          key={label}
          type="button"
          aria-pressed={writing === turn}
          onClick={() => onTurn(turn)}
          className={clsx(
            'flex h-7 items-center gap-1.5 rounded-sm px-2 text-sm font-medium',
            writing === turn ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text',
          )}
        >
          <Icon size={14} aria-hidden />
          <span className="max-sm:sr-only">{t(label)}</span>
        </button>
      ))}
    </div>
  );
}
