import { lazy, Suspense, type ComponentType, type FunctionComponent } from 'react';
import { useMay } from './session';

const Forbidden = lazy(() => import('./Forbidden'));

/** A page behind a permission: who lacks it reads why, instead of a broken page. */
export function permitted(permission: string, Inner: ComponentType): FunctionComponent {
  return function Permitted() {
    const may = useMay();
    return may(permission) ? <Inner /> : <Suspense><Forbidden permission={permission} /></Suspense>;
  };
}
