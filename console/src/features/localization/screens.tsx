import { useParams } from '@tanstack/react-router';
import { lazyPart } from '@/app/lazily';

const CoveragePage = lazyPart(() => import('./CoveragePage'));
const DeskPage = lazyPart(() => import('./DeskPage'));
const ReviewPage = lazyPart(() => import('./ReviewPage'));

/** How far the languages are, the desk, or what waits for a reviewer; a translator loads no code of a reviewer. */
export default function Screens() {
  const { view } = useParams({ strict: false }) as { view?: string };
  if (view === 'desk') return <DeskPage />;
  if (view === 'review') return <ReviewPage />;
  return <CoveragePage />;
}
