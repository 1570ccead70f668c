/**
 * Every feature's places in Settings and its commands, in order. The first screen does not need them:
 * the palette and Settings load them, and the frame once the console is idle.
 */
import type { Navigation, Section, SettingsPlace } from './feature';

const found = Object.values(import.meta.glob<Navigation>('../features/*/navigation.ts', { eager: true, import: 'default' }));

export const SETTINGS_PLACES: SettingsPlace[] = found
  .flatMap((feature) => feature.settings ?? [])
  .sort((one, other) => one.order - other.order);
export const COMMANDS = found.flatMap((feature) => feature.commands ?? []);
export const sectionKey = (section: Section) => `nav.section_${section}` as const;
