/** A sign-up form as its editors hold it: the same document as the server's. */
export const FIELD_TYPES = ['text', 'email', 'url', 'textarea', 'select', 'checkbox', 'consent'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export interface FormField {
  name: string;
  type: FieldType;
  label: string;
  help: string;
  required: boolean;
  max: number | null;
  options: string[];
}

/** A field's texts in another language; null where the form's own are shown. */
export interface FieldOverlay {
  label: string | null;
  help: string | null;
  options: string[] | null;
}

export interface Overlay {
  copy: Record<string, string>;
  fields: Record<string, FieldOverlay>;
}

export interface Experience {
  fields: FormField[];
  copy: Record<string, string>;
  theme: Record<string, string>;
  judge_prompt: string;
  assets: Partial<Record<'logo' | 'hero' | 'font', string>>;
  template: string | null;
  locales: Record<string, Overlay>;
  embed_origins: string[];
}
