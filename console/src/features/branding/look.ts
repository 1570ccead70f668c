/** A look while it is edited: what is kept, what the draft would change, and where it is saved. */
import { api, value, type Schemas } from '@/api/client';
import { refusalOf } from '@/api/refusal';
import type { Theme } from '@/app/colours/tokens';

export type Look = Schemas['EditableBranding'];

export interface Draft {
  title: string;
  tagline: string;
  theme: Theme;
}

/** Where a look lives: the company's plane or the instance's. */
export interface Place {
  name: 'company' | 'instance';
  read: () => Promise<Look>;
  save: (draft: Draft, revision: string) => Promise<Look>;
  upload: (data: string) => Promise<Look>;
  removeLogo: (kept: Look) => Promise<Look>;
  reset: (kept: Look) => Promise<Look>;
}

export const draftOf = (look: Look): Draft => ({
  title: look.own_title ?? '',
  tagline: look.own_tagline ?? '',
  theme: { ...look.own_theme },
});

/** Whether anything was set here; else everything is inherited. */
export const isOwn = (look: Look): boolean =>
  look.own_title !== null || look.own_tagline !== null || look.own_logo || Object.keys(look.own_theme).length > 0;

export function isChanged(draft: Draft, look: Look): boolean {
  const kept = draftOf(look);
  const names = new Set([...Object.keys(draft.theme), ...Object.keys(kept.theme)]);
  return (
    draft.title.trim() !== kept.title ||
    draft.tagline.trim() !== kept.tagline ||
    [...names].some((name) => draft.theme[name] !== kept.theme[name])
  );
}

/** An empty field inherits. */
const bodyOf = (draft: Draft) => ({
  title: draft.title.trim() || null,
  tagline: draft.tagline.trim() || null,
  theme: draft.theme as NonNullable<Schemas['BrandingDraft']['theme']>,
});
const match = (revision: string) => ({ headers: { 'if-match': `"${revision}"` } });

export const companyPlace: Place = {
  name: 'company',
  read: () => value(api.GET('/api/org/branding')),
  save: (draft, revision) => value(api.PUT('/api/org/branding', { body: bodyOf(draft), ...match(revision) })),
  upload: (data) => value(api.POST('/api/org/branding/logo', { body: { data } })),
  removeLogo: (kept) => value(api.PUT('/api/org/branding', { body: { ...bodyOf(draftOf(kept)), logo: null }, ...match(kept.revision) })),
  reset: (kept) => value(api.DELETE('/api/org/branding', match(kept.revision))),
};

export const instancePlace: Place = {
  name: 'instance',
  read: readInstanceLook,
  save: (draft, revision) => value(api.PUT('/api/branding', { body: bodyOf(draft), ...match(revision) })),
  upload: (data) => value(api.POST('/api/branding/logo', { body: { data } })),
  removeLogo: (kept) => value(api.PUT('/api/branding', { body: { ...bodyOf(draftOf(kept)), logo: null }, ...match(kept.revision) })),
  reset: (kept) => value(api.PUT('/api/branding', { body: { logo: null }, ...match(kept.revision) })),
};

/** The product's own name: an instance that shows it has set none. */
const PRODUCT = 'Atrium';

/** The instance's look, asked for without a credential: with one, the answer would be the caller's company's. */
async function readInstanceLook(): Promise<Look> {
  const answer = await fetch('/api/branding', { credentials: 'omit' });
  if (!answer.ok) throw await refusalOf(answer);
  const shown = (await answer.json()) as Schemas['Branding'];
  const own_title = shown.title === PRODUCT ? null : shown.title;
  return {
    ...shown,
    own_title,
    own_tagline: shown.tagline || null,
    own_logo: shown.logo !== null,
    own_theme: shown.theme,
    inherited: { title: PRODUCT, tagline: '', theme: {} },
  };
}
