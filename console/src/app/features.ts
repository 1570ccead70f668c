/** Every feature's pages: each folder below src/features brings itself. */
import type { Feature } from './feature';

const found = import.meta.glob<{ default: Feature }>('../features/*/index.ts', { eager: true });

export const FEATURES: Feature[] = Object.values(found).map((module) => module.default);
