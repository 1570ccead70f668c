/** The body of a note or a document: read by everyone who may see it, written by those who may. */
import { createContext, useContext } from 'react';
import { api, value } from '@/api/client';
import { lazyPart } from '../lazily';

interface Props {
  body: string;
  writing: boolean;
  /** Grows whenever the text was replaced by something other than typing. */
  generation: number;
  onBody: (body: string) => void;
  label: string;
  placeholder: string;
  /** What is said where there is nothing to read. */
  empty: string;
}

const MOST_FOUND = 8;
/** More characters than a screen shows. */
const SCREENFUL = 8000;
const Source = createContext('');
const Markdown = lazyPart(() => import('@/ui/Markdown'), <div className="h-72" />);
const MarkdownEditor = lazyPart(() => import('@/ui/MarkdownEditor'), <Meanwhile />);

export function TextBody({ body, writing, generation, onBody, label, placeholder, empty }: Props) {
  if (!writing) return body.trim() ? <Read body={body} /> : <p className="text-muted">{empty}</p>;
  return (
    <Source value={body}>
      <MarkdownEditor key={generation} value={body} onChange={onBody} label={label} placeholder={placeholder} onFind={findNotes} />
    </Source>
  );
}

/** The notes with these words, the newest first; none where the server cannot be asked. */
async function findNotes(q: string) {
  const found = value(api.GET('/api/notes', { params: { query: { limit: MOST_FOUND, ...(q ? { q } : {}) } } }));
  const { items } = await found.catch(() => ({ items: [] }));
  return items.map(({ id, title }) => ({ title, address: `#/notes/${id}` }));
}

const Read = ({ body }: { body: string }) => <div data-raw className="prose written"><Markdown source={body} spaced /></div>;

/** The text to read, in the place where the editor will draw it: its toolbar is 2.5rem high and half a rem away. */
function Meanwhile() {
  return <div className="min-h-72 pt-12"><Read body={beginningOf(useContext(Source))} /></div>;
}

/** Whole lines of the first screen: a long text takes longer to be drawn to read than the editor takes to come. */
const beginningOf = (text: string): string => (text.length > SCREENFUL ? text.slice(0, text.lastIndexOf('\n', SCREENFUL) + 1) : text);
