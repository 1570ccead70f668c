import { SpecEditor } from './SpecEditor';
import { EXAMPLE, written } from './examples';

/** A new workflow begins with an example that works. */
export default function NewWorkflow() {
  return <SpecEditor text={written(EXAMPLE)} over={null} />;
}
