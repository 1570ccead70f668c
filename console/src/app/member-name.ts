import { useQuery } from '@tanstack/react-query';
import { membersQuery } from '@/api/queries';

/** What a person of this team is called; nothing for people who left or are of another team, and for none. */
export function useMemberName(id: string | undefined): string | undefined {
  const members = useQuery({ ...membersQuery, enabled: id !== undefined });
  return members.data?.find((member) => member.id === id)?.display_name;
}
