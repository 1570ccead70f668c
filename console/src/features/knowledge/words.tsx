/** How kinds of entities look, and how many there are of what. */
import { Boxes, Building2, CalendarDays, FileText, FolderKanban, Lightbulb, MapPin, UserRound, type LucideIcon } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { Badge } from '@/ui/bits';
import type { EntityType } from './queries';

export const ICONS: Record<EntityType, LucideIcon> = {
  person: UserRound,
  organisation: Building2,
  place: MapPin,
  product: Boxes,
  project: FolderKanban,
  event: CalendarDays,
  document: FileText,
  concept: Lightbulb,
};

export function TypeBadge({ type }: { type: EntityType }) {
  const { t } = useLanguage();
  const Icon = ICONS[type];
  return <Badge><Icon size={12} aria-hidden />{t(`knowledge.type_${type}`)}</Badge>;
}

/** A model names relations as `works_for`. */
export const relationWords = (type: string): string => type.replaceAll('_', ' ');
