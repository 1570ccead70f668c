import ExecutorsPage from './ExecutorsPage';

/** Every machine of the instance, whichever company it works for. */
export default function InstanceExecutors() {
  return <ExecutorsPage everybody />;
}
