import { useRouterState } from '@tanstack/react-router';
import BoardPage from './BoardPage';
import FormPage from './FormPage';

/** Who signed up, or the form they fill in. */
export default function Screens() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  return path.endsWith('/sign-up-form') ? <FormPage /> : <BoardPage />;
}
