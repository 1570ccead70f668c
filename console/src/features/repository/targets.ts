/** Who a file can be shared with: a person, a team, the whole company. */
import { Building2, UserRound, Users } from 'lucide-react';
import type { Schemas } from '@/api/client';

export type Target = Schemas['Target'];
export const TARGET_ICONS = { user: UserRound, team: Users, org: Building2 } as const;
