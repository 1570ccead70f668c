import type { Feature } from '@/app/feature';

export default {
  pages: [
    {
      path: '/notes',
      permission: 'notes:read',
      load: () => import('./NotesLayout'),
      children: [
        { path: '/', load: () => import('./NoteWelcome') },
        { path: '/new', permission: 'notes:write', load: () => import('./NoteNew') },
        { path: '/$id', load: () => import('./NotePage') },
        { path: '/$id/history', load: () => import('./NoteHistory') },
      ],
    },
  ],
} satisfies Feature;
