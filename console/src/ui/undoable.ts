/** Deletes that can be taken back: the request waits eight seconds, and leaves with the page if the page leaves first. */
export const UNDO_MILLISECONDS = 8000;

interface Waiting {
  commit: (keepalive: boolean) => void;
  timer: ReturnType<typeof setTimeout>;
}

const waiting = new Set<Waiting>();

addEventListener('pagehide', () => {
  for (const one of waiting) {
    clearTimeout(one.timer);
    one.commit(true);
  }
  waiting.clear();
});

/** Do it later; the returned function takes it back. */
export function later(commit: (keepalive: boolean) => void, milliseconds = UNDO_MILLISECONDS): () => void {
  const one: Waiting = {
    commit,
    timer: setTimeout(() => {
      waiting.delete(one);
      commit(false);
    }, milliseconds),
  };
  waiting.add(one);
  return () => {
    clearTimeout(one.timer);
    waiting.delete(one);
  };
}
