import { useParams } from '@tanstack/react-router';
import EntityPage from './EntityPage';
import KnowledgePage from './KnowledgePage';

/** The list of entities, or the one in the address. */
export default function Screens() {
  const { id } = useParams({ strict: false });
  return id === undefined ? <KnowledgePage /> : <EntityPage id={id} />;
}
