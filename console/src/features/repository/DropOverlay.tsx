/** Files may be dropped anywhere on the screen; while they hover, the screen says where they would go. */
import { UploadCloud } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useLanguage } from '@/i18n/language';
import { droppedIn, type Dropped } from './dropped';

const carriesFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

export function DropOverlay({ folder, onFiles }: { folder: string; onFiles: (files: Dropped[]) => void }) {
  const { t } = useLanguage();
  const [hovering, setHovering] = useState(false);
  const take = useRef(onFiles);
  useEffect(() => {
    take.current = onFiles;
  }, [onFiles]);
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setHovering(true);
    };
    const out = (event: DragEvent) => event.relatedTarget === null && setHovering(false);
    const drop = async (event: DragEvent) => {
      if (!event.dataTransfer || !carriesFiles(event)) return;
      event.preventDefault();
      setHovering(false);
      take.current(await droppedIn(event.dataTransfer));
    };
    const dropped = (event: DragEvent) => void drop(event);
    addEventListener('dragover', over);
    addEventListener('dragleave', out);
    addEventListener('drop', dropped);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', out);
      removeEventListener('drop', dropped);
    };
  }, []);
  if (!hovering) return null;
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
