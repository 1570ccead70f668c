import type { Note } from '@/api/queries';
import { useIdentity, useMay, useReadOnly } from '@/app/session';

/** What this person may do with a note, as far as the console can tell; the server has the last word. */
export function useReach(note: Note) {
  const { user, team } = useIdentity();
  const may = useMay();
  const readOnly = useReadOnly();
  const mine = note.owner_id === user.id;
  const ours = note.team_id === team.id && note.visibility === 'team';
  return {
    mine,
    writes: !readOnly && (mine || (ours ? may('notes:write') : note.team_id !== team.id || note.visibility === 'private')),
    manages: !readOnly && (mine || (ours && may('notes:manage'))),
    deletes: !readOnly && (mine || (ours && may('notes:manage'))),
  };
}
