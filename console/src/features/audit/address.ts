/** Where the thing of an event is opened; null where it has no page, or the reader cannot open it. */
import type { Schemas } from '@/api/client';

type Event = Schemas['AuditEvent'];

/** Pages that the reader's team alone can open, by how the kinds of their events begin; `permission` is that of the page. */
const OF_TEAM: { begins: string; permission?: string; to: (event: Event) => string | null }[] = [
  { begins: 'workflows.published', permission: 'workflows:read', to: ({ subject }) => `/workflows/${encodeURIComponent(subject)}` },
  { begins: 'workflows.', permission: 'workflows:read', to: ({ subject }) => `/runs/${subject}` },
  { begins: 'triggers.deleted', to: () => null },
  { begins: 'triggers.', permission: 'workflows:read', to: ({ subject }) => `/triggers/${subject}` },
  { begins: 'jobs.', to: ({ subject }) => `/jobs/${subject}` },
];

export function addressOf(event: Event, team: string, may: (permission?: string) => boolean): string | null {
  if (event.opens) return event.kind.startsWith('notes.') ? `/notes/${event.subject}` : `/files/${event.subject}`;
  const page = event.team_id === team ? OF_TEAM.find(({ begins }) => event.kind.startsWith(begins)) : undefined;
  return page && may(page.permission) ? page.to(event) : null;
}
