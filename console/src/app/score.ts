/** How well a text answers what was typed: letters in order, runs and word starts first; -1 when they are not all there. */
export function score(typed: string, text: string): number {
  const wanted = plain(typed);
  const offered = plain(text);
  let at = 0;
  let points = 0;
  let last = -2;
  for (let index = 0; index < offered.length && at < wanted.length; index++) {
    if (offered[index] !== wanted[at]) continue;
    points += index === last + 1 ? 3 : index === 0 || /[\s/._-]/.test(offered[index - 1] ?? '') ? 2 : 1;
    last = index;
    at++;
  }
  return at === wanted.length ? points - offered.length / 100 : -1;
}

/** Accents and case do not matter while searching. */
const plain = (text: string): string => text.normalize('NFD').replace(/\p{Diacritic}/gu, '').toLowerCase();
