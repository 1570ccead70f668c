/** What every dialog about a person is given. */
import type { Member } from '@/api/queries';

export interface PersonDialog {
  person: Member;
  /** Who else is in their team, and could take over. */
  colleagues: Member[];
  onClose: () => void;
}
