/** What the agent did for an answer that is in the conversation already; the server remembers it for a day. */
import { useQuery } from '@tanstack/react-query';
import Steps from './Steps';
import { runQuery } from './run';

export default function PastRun({ turn }: { turn: string }) {
  const { data } = useQuery(runQuery(turn));
  return data ? <Steps steps={data.steps} stop={data.stop} refusal={data.refusal} /> : null;
}
