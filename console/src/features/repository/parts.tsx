/** What the screens of files share. */
import {
  File,
  FileArchive,
  FileAudio,
  FileCode,
  FileImage,
  FileSpreadsheet,
  FileText,
  FileVideo,
  Lock,
  Share2,
  Users,
  type LucideIcon,
} from 'lucide-react';
import type { Visibility } from '@/api/repository';
import { useLanguage } from '@/i18n/language';

export const VISIBILITIES = [['private', Lock], ['shared', Share2], ['team', Users]] as const satisfies [Visibility, LucideIcon][];

const ICONS: [RegExp, LucideIcon][] = [
  [/^image\//, FileImage],
  [/^video\//, FileVideo],
  [/^audio\//, FileAudio],
  [/spreadsheet|excel|csv/, FileSpreadsheet],
  [/zip|tar|compressed|gzip/, FileArchive],
  [/json|xml|javascript|html/, FileCode],
  [/^text\/|pdf|word|presentation|message\//, FileText],
];

export function KindIcon({ type, size = 18 }: { type: string; size?: number }) {
  const Icon = ICONS.find(([pattern]) => pattern.test(type))?.[1] ?? File;
  return <Icon size={size} aria-hidden className="shrink-0 text-muted" />;
}

export function VisibilityMark({ visibility, words = false }: { visibility: Visibility; words?: boolean }) {
  const { t } = useLanguage();
  const Icon = VISIBILITIES.find(([name]) => name === visibility)![1];
  return (
    <span className="inline-flex items-center gap-1.5 text-sm text-muted">
      <Icon size={14} {...(words ? { 'aria-hidden': true } : { role: 'img', 'aria-label': t(`files.${visibility}`) })} />
      {words && t(`files.${visibility}`)}
    </span>
  );
}
