import { UploadCloud } from 'lucide-react';
import { useLanguage } from '@/i18n/language';

/** Over everything while files hover: where they would go. */
export default function Veil({ folder }: { folder: string }) {
  const { t } = useLanguage();
  return (
    <div
      data-testid="veil"
      className="pointer-events-none fixed inset-3 z-40 grid place-items-center rounded-xl border-2 border-dashed border-accent bg-accent-soft/90 text-center"
    >
      <div>
        <UploadCloud size={40} className="mx-auto mb-3 text-link" aria-hidden />
        <p className="text-xl font-semibold">{t('files.drop_here')}</p>
        <p data-raw className="mt-1 font-mono text-sm text-muted">/{folder}</p>
      </div>
    </div>
  );
}
