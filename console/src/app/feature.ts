/**
 * What a feature folder gives the console: its pages (`index.ts`), those before sign-in (`outside.ts`), its daily place or a tab
 * below one (`sidebar.ts`), its places in Settings and its commands (`navigation.ts`).
 */
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { MessageKey } from '@/i18n/messages';

export interface PageRoute {
  path: string;
  load: () => Promise<{ default: ComponentType }>;
  /** Without it a direct address explains what is missing. */
  permission?: string;
  /** The catalogs its screens need besides the frame's; found by the build. */
  words?: string[];
  children?: PageRoute[];
}

export interface Feature {
  pages: PageRoute[];
}

interface Target {
  to: string;
  label: MessageKey;
  /** Only people who can use a place see it. */
  permission?: string;
  /** The letter after G. */
  key?: string;
  order: number;
}

/** A place people open every day. There are at most ten, so that none is below the fold. */
export interface Place extends Target {
  icon: LucideIcon;
  /** Also in the bar at the bottom of a phone. */
  bar?: boolean;
}

/** One of several views of a place. */
export interface Tab extends Target {
  /** The address of the place. */
  of: string;
}

/** A feature's `sidebar.ts`: drawn with the first screen, so few features have one. */
export interface Sidebar {
  places?: Place[];
  tabs?: Tab[];
}

export const SECTIONS = ['you', 'team', 'company', 'instance'] as const;
export type Section = (typeof SECTIONS)[number];

export interface SettingsPlace extends Target {
  icon: LucideIcon;
  section: Section;
}

export interface Command {
  label: MessageKey;
  icon: LucideIcon;
  to: string;
  permission?: string;
}

/** A feature's `navigation.ts`: loaded when somebody opens Settings or the palette. */
export interface Navigation {
  settings?: SettingsPlace[];
  commands?: Command[];
}
