import type { Feature } from '@/app/feature';

const permission = 'workflows:read';
const [writes, runs] = ['workflows:write', 'workflows:run'];

/** Screens that are opened one after the other come together: the list of pages is loaded with the first screen, and stays short. */
const workflows = () => import('./workflows');
const editing = () => import('./editing');
const running = () => import('./running');
const triggers = () => import('./triggers');

export default {
  pages: [
    { path: '/workflows', permission, load: async () => ({ default: (await workflows()).WorkflowsPage }) },
    // No slug begins with an underscore.
    { path: '/workflows/_new', permission: writes, load: async () => ({ default: (await editing()).NewWorkflow }) },
    {
      path: '/workflows/$slug',
      permission,
      load: async () => ({ default: (await workflows()).WorkflowPage }),
      children: [
        { path: '/', load: () => import('@/app/Nothing') },
        { path: '/start', permission: runs, load: async () => ({ default: (await workflows()).StartRun }) },
      ],
    },
    { path: '/workflows/$slug/edit', permission: writes, load: async () => ({ default: (await editing()).EditWorkflow }) },
    { path: '/runs', permission, load: async () => ({ default: (await running()).RunsPage }) },
    { path: '/runs/$id', permission, load: async () => ({ default: (await running()).RunPage }) },
    { path: '/triggers', permission, load: async () => ({ default: (await triggers()).TriggersPage }) },
    { path: '/triggers/new', permission: writes, load: async () => ({ default: (await triggers()).NewTrigger }) },
    { path: '/triggers/$id', permission, load: async () => ({ default: (await triggers()).TriggerPage }) },
    { path: '/triggers/$id/edit', permission: writes, load: async () => ({ default: (await triggers()).EditTrigger }) },
  ],
} satisfies Feature;
