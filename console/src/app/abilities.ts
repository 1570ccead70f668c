import type { Schemas } from '@/api/client';
import { useReadOnly } from './session';

export type Ability = Schemas['NoteReply']['abilities'][number];

/** What this person may do with a thing: what its reply says, and nothing that changes it while the company may not write. */
export function useAbilities(thing: { abilities: Ability[] } | undefined) {
  const readOnly = useReadOnly();
  const may = (ability: Ability) => !readOnly && (thing?.abilities.includes(ability) ?? false);
  return { writes: may('write'), deletes: may('delete'), manages: may('manage') };
}
