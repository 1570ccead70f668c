/** The texts of a place on screen: what stands there, what is read out, what an empty field says. */
const SPOKEN = ['aria-label', 'placeholder', 'title', 'alt', 'aria-description'];
/** People's own words, and the bar that says how to point. */
const NONE = '[data-raw], [data-pointing], script, style, textarea';

function textNodesIn(root: Element): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (node.data.trim() && !node.parentElement?.closest(NONE)) found.push(node);
  }
  return found;
}

const byIds = (element: Element, name: string): Element[] =>
  (element.getAttribute(name) ?? '').split(/\s+/).flatMap((id) => (id && document.getElementById(id)) || []);

/** What names or explains an element from elsewhere. */
const namesOf = (element: Element): Element[] => [
  ...('labels' in element ? ((element.labels as NodeListOf<Element> | null) ?? []) : []),
  ...byIds(element, 'aria-labelledby'),
  ...byIds(element, 'aria-describedby'),
];

/** Everything that an element says. */
export function textsOf(element: Element): string[] {
  const all = [element, ...element.querySelectorAll('*')].filter((one) => !one.closest(NONE) || one.matches('textarea'));
  return [
    ...[element, ...namesOf(element)].flatMap(textNodesIn).map((node) => node.data),
    ...all.flatMap((one) => SPOKEN.map((name) => one.getAttribute(name) ?? '')).filter(Boolean),
  ];
}

const covers = (box: DOMRect, x: number, y: number): boolean => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;

/** The text under the pointer; none between the lines or on an icon. */
export function textAt(element: Element, x: number, y: number): string | undefined {
  return textNodesIn(element).find((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].some((box) => covers(box, x, y));
  })?.data;
}

/** The messages of the nearest thing around an element that has some. */
export function keysAround(element: Element | null, keysOf: (text: string) => string[]): string[] {
  for (let one = element; one; one = one.parentElement) {
    const keys = [...new Set(textsOf(one).flatMap(keysOf))];
    if (keys.length) return keys;
  }
  return [];
}
