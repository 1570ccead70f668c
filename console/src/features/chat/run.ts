import { queryOptions } from '@tanstack/react-query';
import { readAnswer } from './turn';

/** A run that has ended, as it was told. */
export const runQuery = (turn: string) =>
  queryOptions({ queryKey: ['run', turn], queryFn: ({ signal }) => readAnswer(turn, signal), staleTime: Infinity, retry: false });
