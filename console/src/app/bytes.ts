import { bytesOf } from '@/ui/meter';
import { useLanguage } from '@/i18n/language';

/** A number of bytes as people say it. */
export function useBytes(): (bytes: number) => string {
  const { t, number } = useLanguage();
  return (bytes) => {
    const { n, unit } = bytesOf(bytes);
    return t(`usage.unit_${unit}`, { n: number(n) });
  };
}
