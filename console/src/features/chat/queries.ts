/** Conversations are files below `chats/`; the model that answers is the server's choice. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, value, type Schemas } from '@/api/client';
import { PAGE } from '@/api/queries';
import { refusalOf } from '@/api/refusal';
import { DELIMITER, contentPath } from '@/api/repository';

export type ChatModel = Schemas['ChatModel'];
export type OpenTurn = Schemas['OpenTurn'];
export type Usage = Schemas['ShownUsage'];

export interface Said {
  role: 'system' | 'user' | 'assistant';
  content: string | ({ type: 'text'; text: string } | { type: 'file'; object_id: string } | { type: 'image_url' })[];
  at: string;
  turn?: string;
  usage?: Usage;
}

export interface Conversation {
  title: string;
  tainted: boolean;
  messages: Said[];
}

export const FOLDER = 'chats/';

export const conversationsQuery = infiniteQueryOptions({
  queryKey: ['files', 'chats'],
  queryFn: ({ pageParam, signal }) =>
    value(
      api.GET('/api/repo', {
        // Not what is below: files of questions.
        params: { query: { prefix: FOLDER, delimiter: DELIMITER, limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } },
        signal,
      }),
    ),
  initialPageParam: '',
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});

export const conversationQuery = (id: string) =>
  queryOptions({
    queryKey: ['chat', id],
    queryFn: async ({ signal }): Promise<Conversation> => {
      const answer = await fetch(contentPath(id), { signal });
      if (!answer.ok) throw await refusalOf(answer);
      return (await answer.json()) as Conversation;
    },
  });

/** The turn of this person's that is open in a conversation, in whichever browser it was asked. */
export const openTurnQuery = (id: string) =>
  queryOptions({
    queryKey: ['chat', id, 'open'],
    queryFn: async () => (await value(api.GET('/api/ai/model', { params: { query: { conversation: id } } }))).turn ?? null,
    gcTime: 0,
  });

export const modelQuery = queryOptions({
  queryKey: ['chat', 'model'],
  queryFn: () => value(api.GET('/api/ai/model')),
  staleTime: 30_000,
});

/** The files that a message names. */
export const filesOf = ({ content }: Pick<Said, 'content'>): string[] =>
  typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'file' ? [part.object_id] : []));

/** The words of a message; what else it carries has names of its own. */
export const wordsOf = ({ content }: Pick<Said, 'content'>): string =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
