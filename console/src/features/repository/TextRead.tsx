import { FileX2, Hourglass, ScanText } from 'lucide-react';
import type { ObjectDetail } from '@/api/repository';
import { useLanguage } from '@/i18n/language';
import { Empty } from '@/ui/Empty';

/** What the server could read out of the file, as search will see it. */
export function TextRead({ text: found }: { text: ObjectDetail['text'] }) {
  const { t, number } = useLanguage();
  const { state, text = '', characters = 0, truncated = false } = found;
  if (state === 'none') return <Empty icon={ScanText} title={t('files.text_none')} body={t('files.text_none_body')} />;
  if (state === 'waiting' || state === 'running') {
    return <Empty icon={Hourglass} title={t('files.text_waiting')} body={t('files.text_waiting_body')} />;
  }
  if (state === 'failed') return <Empty icon={FileX2} title={t('files.text_failed')} body={t('files.text_failed_body')} />;
  const cut = truncated || characters > text.length;
  return (
    <>
      <p className="border-b border-line px-5 py-3 text-sm text-muted">
        {t('files.text_count', { n: number(characters) })}
        {cut && ` ${t('files.text_cut', { n: number(text.length) })}`}
      </p>
      <pre data-raw tabIndex={0} className="max-h-[70vh] overflow-auto p-5 font-sans whitespace-pre-wrap break-words -outline-offset-2">
        {text}
      </pre>
    </>
  );
}
