/** What a feature folder gives the console: its pages (`index.ts`), its place in the navigation and its commands (`navigation.ts`). */
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { MessageKey } from './messages';

export type Group = 'workspace' | 'team' | 'company' | 'instance' | 'account';

export interface PageRoute {
  path: string;
  load: () => Promise<{ default: ComponentType }>;
  /** Without it a direct address explains what is missing. */
  permission?: string;
  children?: PageRoute[];
}

export interface NavigationItem {
  to: string;
  label: MessageKey;
  icon: LucideIcon;
  group: Group;
  /** The letter after G. */
  key?: string;
  permission?: string;
  order: number;
}

export interface Command {
  id: string;
  label: MessageKey;
  icon: LucideIcon;
  to: string;
  permission?: string;
}

export interface Feature {
  pages: PageRoute[];
  /** Pages people see before they sign in. */
  outside?: PageRoute[];
}

/** A feature's `navigation.ts`; apart from its pages, because nobody needs it before signing in. */
export interface Navigation {
  navigation?: NavigationItem[];
  commands?: Command[];
}
