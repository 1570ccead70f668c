/** One state a text or a file was in. */
export interface Past {
  number: number;
  size: number;
  created_at: string;
  created_by: string;
  /** What it was called then, where that can change. */
  title?: string;
  /** What a person called it. */
  name?: string | null;
}

/** How the texts of versions are read, and under which key they are kept. */
export interface Texts {
  key: readonly unknown[];
  read: (number: number) => Promise<string>;
}
