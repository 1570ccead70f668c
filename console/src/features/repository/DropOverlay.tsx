/** Files may be dropped anywhere on the screen; while they hover, the screen says where they would go. */
import { useEffect, useRef, useState } from 'react';
import { lazyExtra } from '@/app/lazily';
import { droppedIn, type Dropped } from './dropped';

const Veil = lazyExtra(() => import('./Veil'));

const carriesFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

export function DropOverlay({ folder, onFiles }: { folder: string; onFiles: (files: Dropped[]) => void }) {
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
  return hovering ? <Veil folder={folder} /> : null;
}
