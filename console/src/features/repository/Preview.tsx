/** A look at the newest version, as far as a browser can show it safely. */
import { useQuery } from '@tanstack/react-query';
import { EyeOff } from 'lucide-react';
import { useEffect, useState } from 'react';
import { contentPath, type ObjectDetail } from '@/api/repository';
import { useBytes } from '@/app/bytes';
import { useLanguage } from '@/i18n/language';
import { lazyPart } from '@/app/lazily';
import { useSlow } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';
import { download, readBytes } from './download';
import { kindOf } from './kinds';

const Markdown = lazyPart(() => import('@/ui/Markdown'));
const MOST_IMAGE = 30_000_000;
const MOST_TEXT = 256_000;

export function Preview({ file }: { file: ObjectDetail }) {
  const kind = kindOf(file);
  if (file.size === 0) return <None file={file} reason="empty" />;
  if (kind === 'image' && file.size <= MOST_IMAGE) return <Image file={file} />;
  if (kind === 'pdf') return <Pdf file={file} />;
  if (kind === 'text' || kind === 'markdown') return <Text file={file} marked={kind === 'markdown' && file.size <= MOST_TEXT} />;
  return <None file={file} reason={kind === 'image' ? 'large' : 'type'} />;
}

function None({ file, reason }: { file: ObjectDetail; reason: 'empty' | 'large' | 'type' }) {
  const { t } = useLanguage();
  return (
    <Empty
      icon={EyeOff}
      title={t('files.no_preview')}
      body={t(`files.no_preview_${reason}`)}
      action={reason !== 'empty' && <Button onClick={() => download(file)}>{t('files.download')}</Button>}
    />
  );
}

function Waiting() {
  const { t } = useLanguage();
  const slow = useSlow(true);
  return <div role="status" aria-label={t('app.loading')} className="h-80 p-5">{slow && <div className="skeleton h-full" />}</div>;
}

function Image({ file }: { file: ObjectDetail }) {
  const { t } = useLanguage();
  const number = file.version.number;
  const bytes = useQuery({ queryKey: ['file', file.id, 'image', number], queryFn: () => readBytes(file.id, number), staleTime: Infinity });
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (!bytes.data) return;
    const made = URL.createObjectURL(bytes.data);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes.data]);
  if (bytes.error) return <div className="p-4"><Problem error={bytes.error} onRetry={() => void bytes.refetch()} /></div>;
  if (!address) return <Waiting />;
  return (
    <div className="grid place-items-center bg-raised p-4">
      <img src={address} alt={t('files.image_of', { name: file.filename })} className="max-h-[70vh] max-w-full rounded-sm object-contain" />
    </div>
  );
}

function Pdf({ file }: { file: ObjectDetail }) {
  const { t } = useLanguage();
  return (
    <iframe
      title={t('files.pdf_of', { name: file.filename })}
      src={contentPath(file.id, file.version.number)}
      className="block h-[75vh] w-full"
    />
  );
}

function Text({ file, marked }: { file: ObjectDetail; marked: boolean }) {
  const { t } = useLanguage();
  const size = useBytes();
  const number = file.version.number;
  const text = useQuery({
    queryKey: ['file', file.id, 'start', number],
    queryFn: async () => (await readBytes(file.id, number, `bytes=0-${MOST_TEXT - 1}`)).text(),
    staleTime: Infinity,
  });
  if (text.error) {
    return (
      <div className="p-4">
        <Problem error={text.error} onRetry={() => void text.refetch()} />
      </div>
    );
  }
  if (text.data === undefined) return <Waiting />;
  return (
    <>
      {marked ? (
        <div data-raw className="prose p-6"><Markdown source={text.data} /></div>
      ) : (
        <pre
          data-raw
          tabIndex={0}
          className="max-h-[70vh] overflow-auto p-5 font-mono text-sm whitespace-pre-wrap break-words -outline-offset-2"
        >
          {text.data}
        </pre>
      )}
      {file.size > MOST_TEXT && (
        <p className="border-t border-line px-5 py-3 text-sm text-muted">{t('files.preview_cut', { size: size(MOST_TEXT) })}</p>
      )}
    </>
  );
}
