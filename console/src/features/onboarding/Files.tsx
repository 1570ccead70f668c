/** The form's pictures and typeface: uploaded, used, taken off, deleted. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus, Trash2, Type } from 'lucide-react';
import { useRef, useState } from 'react';
import { useBytes } from '@/app/bytes';
import { asDataUri } from '@/app/data-uri';
import { useLanguage } from '@/i18n/language';
import { Badge, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Confirm } from '@/ui/Confirm';
import { IconButton } from '@/ui/Overlay';
import { Problem } from '@/ui/Problem';
import type { Experience } from './experience';
import { Part } from './Part';
import { assetsQuery, deleteAsset, uploadAsset, type Asset, type AssetKind } from './queries';

const PICTURES = ['image/png', 'image/jpeg', 'image/webp'];
const KINDS: AssetKind[] = ['logo', 'hero', 'font'];
const MOST = 2 * 1024 * 1024;

interface Props {
  form: Experience;
  /** With a function, because an upload takes a while and typing goes on. */
  onChange: (change: (form: Experience) => Experience) => void;
}

const using = (kind: AssetKind, id: string | null) => (form: Experience): Experience => {
  const rest = Object.fromEntries(Object.entries(form.assets).filter(([one]) => one !== kind));
  return { ...form, assets: id === null ? rest : { ...rest, [kind]: id } };
};

export function Files({ form, onChange }: Props) {
  const { t } = useLanguage();
  const files = useQuery(assetsQuery);
  return (
    <Part title={t('onboarding.files')} lead={t('onboarding.files_lead')}>
      {files.isPending && <SkeletonRows rows={3} label={t('app.loading')} />}
      <Problem error={files.error} onRetry={() => void files.refetch()} />
      {files.data && (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
          {KINDS.map((kind) => (
            <Kind key={kind} kind={kind} files={files.data.filter((file) => file.kind === kind)} form={form} onChange={onChange} />
          ))}
        </div>
      )}
    </Part>
  );
}

function Kind({ kind, files, form, onChange }: Props & { kind: AssetKind; files: Asset[] }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState(false);
  const upload = useMutation({
    mutationFn: async (file: File) => uploadAsset({ kind, filename: file.name, data: await asDataUri(file) }),
    onSuccess: (asset) => {
      queries.setQueryData(assetsQuery.queryKey, (before) => [asset, ...(before ?? [])]);
      onChange(using(kind, asset.id));
    },
  });
  const choose = (file: File | undefined) => {
    if (!file) return;
    upload.reset();
    const fits = (kind === 'font' ? file.name.endsWith('.woff2') : PICTURES.includes(file.type)) && file.size <= MOST;
    setWrong(!fits);
    if (fits) upload.mutate(file);
  };
  return (
    <section aria-label={t(`onboarding.file_${kind}`)} data-testid={`files-${kind}`}>
      <div className="mb-2 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <h3 className="font-medium">{t(`onboarding.file_${kind}`)}</h3>
          <p className="text-sm text-muted">{t(`onboarding.file_${kind}_hint`)}</p>
        </div>
        <input
          ref={input}
          type="file"
          hidden
          accept={kind === 'font' ? '.woff2' : PICTURES.join()}
          aria-label={t(`onboarding.upload_${kind}`)}
          onChange={(event) => {
            choose(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
        <Button size="small" busy={upload.isPending} onClick={() => input.current?.click()}>
          <Plus size={14} aria-hidden />
          {t(`onboarding.upload_${kind}`)}
        </Button>
      </div>
      {files.length > 0 && (
        <ul className="rounded-lg border border-line">
          {files.map((file) => (
            <File
              key={file.id}
              file={file}
              on={form.assets[kind] === file.id}
              onUse={(on) => onChange(using(kind, on ? file.id : null))}
              onDeleted={() => form.assets[kind] === file.id && onChange(using(kind, null))}
            />
          ))}
        </ul>
      )}
      <div className="mt-2 empty:hidden">
        {wrong && <p role="alert" className="text-sm text-danger">{t(`onboarding.file_${kind}_wrong`)}</p>}
        {!wrong && upload.error && <Problem error={upload.error} />}
      </div>
    </section>
  );
}

interface FileProps {
  file: Asset;
  on: boolean;
  onUse: (on: boolean) => void;
  onDeleted: () => void;
}

function File({ file, on, onUse, onDeleted }: FileProps) {
  const { t } = useLanguage();
  const bytes = useBytes();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const name = file.filename || t(`onboarding.file_${file.kind}`);
  const remove = useMutation({
    mutationFn: () => deleteAsset(file.id),
    onSuccess: () => {
      queries.setQueryData(assetsQuery.queryKey, (before) => (before ?? []).filter((one) => one.id !== file.id));
      onDeleted();
    },
  });
  return (
    <li data-testid="form-file" className="flex flex-wrap items-center gap-3 border-b border-line p-2 last:border-0">
      <span className="grid h-12 w-16 shrink-0 place-items-center overflow-hidden rounded-md bg-raised text-muted">
        {file.kind === 'font'
          ? <Type size={18} aria-hidden />
          : <img src={file.url} alt="" className="max-h-12 max-w-16 object-contain" />}
      </span>
      <span className="min-w-0 flex-1 basis-32">
        <span data-raw className="block truncate">{name}</span>
        <span data-raw className="block text-sm text-muted">
          {[file.width && `${file.width} × ${file.height}`, bytes(file.size)].filter(Boolean).join(' · ')}
        </span>
      </span>
      {on && <Badge tone="accent">{t('onboarding.file_used')}</Badge>}
      <Button size="small" onClick={() => onUse(!on)} aria-label={t(on ? 'onboarding.unuse_name' : 'onboarding.use_name', { name })}>
        {t(on ? 'onboarding.unuse' : 'onboarding.use')}
      </Button>
      <IconButton label={t('onboarding.delete_file', { name })} onClick={() => setAsking(true)}>
        <Trash2 size={15} aria-hidden />
      </IconButton>
      {asking && (
        <Confirm
          title={t('onboarding.delete_file_title', { name })}
          body={t('onboarding.delete_file_body')}
          action={t('onboarding.delete')}
          busy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  );
}
