import { useLanguage } from '@/i18n/language';

/** A stretch of time as people say it. */
export function useDuration(): (seconds: number) => string {
  const { t, number } = useLanguage();
  return (seconds) => {
    if (seconds < 60) return t('time.span_seconds', { n: number(Math.round(seconds * 10) / 10) });
    if (seconds < 3600) return t('time.span_minutes', { n: number(Math.round(seconds / 60)) });
    return t('time.span_hours', { n: number(Math.round(seconds / 360) / 10) });
  };
}
