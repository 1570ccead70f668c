/** Every feature's places and commands, in order. */
import type { Navigation } from './feature';

const found = Object.values(import.meta.glob<{ default: Navigation }>('../features/*/navigation.ts', { eager: true })).map((module) => module.default);

export const NAVIGATION = found.flatMap((feature) => feature.navigation ?? []).sort((one, other) => one.order - other.order);
export const COMMANDS = found.flatMap((feature) => feature.commands ?? []);
