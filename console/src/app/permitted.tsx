import type { ComponentType, FunctionComponent } from 'react';
import { lazyPart } from './lazily';
import { useMay } from './session';

const Forbidden = lazyPart(() => import('./Forbidden'));

/** A page behind a permission: who lacks it reads why, instead of a broken page. */
export function permitted(permission: string, Inner: ComponentType): FunctionComponent {
  return function Permitted() {
    const may = useMay();
    return may(permission) ? <Inner /> : <Forbidden permission={permission} />;
  };
}
