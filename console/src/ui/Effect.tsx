/** What a tool does besides answering: nothing, change something here, or send something elsewhere. */
import { Eye, PencilLine, Send } from 'lucide-react';
import type { Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { Badge } from './bits';

const LOOKS = {
  read: [Eye, 'neutral', 'ui.effect_read'],
  write: [PencilLine, 'warning', 'ui.effect_write'],
  egress: [Send, 'danger', 'ui.effect_egress'],
} as const;

export function EffectBadge({ effect }: { effect: Schemas['ToolState']['effect'] }) {
  const { t } = useLanguage();
  const [Icon, tone, words] = LOOKS[effect];
  return <Badge tone={tone}><Icon size={12} aria-hidden />{t(words)}</Badge>;
}
