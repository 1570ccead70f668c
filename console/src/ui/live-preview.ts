/** A Markdown text drawn as it will be read. The text stays the model: marks are hidden or something stands in their place. */
import { syntaxTree } from '@codemirror/language';
import type { EditorState, Extension, Range } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import type { SyntaxNode, SyntaxNodeRef } from '@lezer/common';
import { isSafeAddress } from './addresses';
import { focus, focusKept, isHeld } from './live-focus';
import { firstTree, tables } from './live-tables';
import { Bullet, Picture, Rule, TaskBox } from './live-widgets';

const DEEPEST = 6;

const hidden = Decoration.replace({});
const marked = (name: string) => Decoration.mark({ class: name });
const link = marked('cm-link');
const code = marked('cm-inline-code');
const indentation = marked('cm-indent');
const prefix = marked('cm-prefix');
const lineNamed = (names: string) => Decoration.line({ class: names });

/** What is drawn in a part of the text, gathered node by node. */
class Drawing {
  readonly ranges: Range<Decoration>[] = [];
  private readonly depths = new Map<number, { depth: number; quotes: number; first: boolean }>();

  constructor(
    private readonly state: EditorState,
    private readonly from: number,
    private readonly to: number,
    private readonly taskLabel: string,
  ) {}

  /** Draws this node; false when there is nothing to draw below it. */
  enter(node: SyntaxNodeRef): boolean {
    const heading = /^(?:ATX|Setext)Heading(\d)$/.exec(node.name);
    if (heading) this.lines(node, `cm-heading cm-h${heading[1]}`);
    switch (node.name) {
      case 'HeaderMark':
        this.headerMark(node);
        break;
      case 'EmphasisMark':
      case 'StrikethroughMark':
        this.hideUnlessHeld(node.from, node.to, node.node.parent!);
        break;
      case 'InlineCode':
        this.add(code, node.from, node.to);
        break;
      case 'CodeMark':
        if (node.node.parent!.name === 'InlineCode') this.hideUnlessHeld(node.from, node.to, node.node.parent!);
        break;
      case 'Escape':
        this.hideUnlessHeld(node.from, node.from + 1, node);
        break;
      case 'FencedCode':
      case 'CodeBlock':
        this.codeBlock(node);
        return false;
      case 'Blockquote':
        this.quote(node);
        break;
      case 'QuoteMark':
        this.quoteMark(node);
        break;
      case 'ListItem':
        this.item(node.node);
        break;
      case 'HorizontalRule':
        if (!isHeld(this.state, node.from, node.to)) this.add(Decoration.replace({ widget: new Rule() }), node.from, node.to);
        break;
      case 'Link':
        return this.link(node.node);
      case 'Autolink':
        this.address(node.node);
        return false;
      case 'URL':
        if (isSafeAddress(this.text(node))) this.add(link, node.from, node.to);
        break;
      case 'Image':
        return this.picture(node.node);
      case 'LinkReference':
        return false;
      case 'Table':
        return isHeld(this.state, node.from, node.to) || node.node.parent?.name !== 'Document';
    }
    return true;
  }

  /** Lists and quotes last: how deep a line stands is known once every node on it was met. */
  end(): Range<Decoration>[] {
    for (const [from, { depth, quotes, first }] of this.depths) {
      const { text } = this.state.doc.lineAt(from);
      // A line that goes on without an indent has none to pull back.
      const lazy = depth > 0 && !first && !/^[ \t>]/.test(text);
      if (depth) this.ranges.push(lineNamed(`cm-depth-${Math.min(depth, DEEPEST)}${lazy ? ' cm-lazy' : ''}`).range(from));
      if (quotes) this.ranges.push(lineNamed(`cm-quote cm-quotes-${Math.min(quotes, DEEPEST)}`).range(from));
    }
    return this.ranges;
  }

  private add(decoration: Decoration, from: number, to: number): void {
    if (to > from) this.ranges.push(decoration.range(from, to));
  }

  private text = ({ from, to }: { from: number; to: number }): string => this.state.sliceDoc(from, to);

  private hideUnlessHeld(from: number, to: number, element: { from: number; to: number }): void {
    if (!isHeld(this.state, element.from, element.to)) this.add(hidden, from, to);
  }

  /** The starts of the lines of a node that are to be drawn. */
  private *linesOf({ from, to }: { from: number; to: number }): Generator<number> {
    const last = Math.min(to, this.to);
    for (let at = this.state.doc.lineAt(Math.max(from, this.from)); ; at = this.state.doc.line(at.number + 1)) {
      yield at.from;
      if (at.to >= last || at.number === this.state.doc.lines) return;
    }
  }

  private lines(node: { from: number; to: number }, names: string): void {
    for (const from of this.linesOf(node)) this.ranges.push(lineNamed(names).range(from));
  }

  private deepen(from: number, change: Partial<{ depth: number; quotes: number; first: boolean }>): void {
    this.depths.set(from, { ...(this.depths.get(from) ?? { depth: 0, quotes: 0, first: false }), ...change });
  }

  private headerMark(node: SyntaxNodeRef): void {
    const element = node.node.parent!;
    if (isHeld(this.state, element.from, element.to)) return;
    const line = this.state.doc.lineAt(node.from);
    if (element.name.startsWith('Setext')) {
      this.ranges.push(lineNamed('cm-flat').range(line.from));
      return this.add(hidden, node.from, node.to);
    }
    if (node.from === element.from) {
      const [after] = /^[ \t]*/.exec(line.text.slice(node.to - line.from))!;
      return this.add(hidden, node.from, node.to + after.length);
    }
    const [before] = /[ \t]*$/.exec(line.text.slice(0, node.from - line.from))!;
    this.add(hidden, node.from - before.length, node.to);
  }

  /** The lines of a block of code, and its fences, which become its edges. */
  private codeBlock(node: SyntaxNodeRef): void {
    this.lines(node, 'cm-code');
    const first = this.state.doc.lineAt(node.from);
    const last = this.state.doc.lineAt(node.to);
    const fences = node.name === 'FencedCode' ? node.node.getChildren('CodeMark') : [];
    const held = isHeld(this.state, node.from, node.to);
    for (const fence of fences) {
      const line = this.state.doc.lineAt(fence.from);
      if (held || line.to < this.from || line.from > this.to) continue;
      this.ranges.push(lineNamed('cm-fence').range(line.from));
      this.add(hidden, fence.from, line.to);
    }
    if (first.from >= this.from) this.ranges.push(lineNamed('cm-code-first').range(first.from));
    if (last.to <= this.to) this.ranges.push(lineNamed('cm-code-last').range(last.from));
  }

  private quote(node: SyntaxNodeRef): void {
    for (const from of this.linesOf(node)) this.deepen(from, { quotes: (this.depths.get(from)?.quotes ?? 0) + 1 });
  }

  private quoteMark(node: SyntaxNodeRef): void {
    const blank = this.state.sliceDoc(node.to, node.to + 1) === ' ' ? 1 : 0;
    this.hideUnlessHeld(node.from, node.to + blank, this.state.doc.lineAt(node.from));
  }

  /** An item: its mark becomes a bullet or a box, and its lines stand under its first word. */
  private item(node: SyntaxNode): void {
    const mark = node.getChild('ListMark');
    if (!mark) return;
    let depth = 0;
    for (let outer: SyntaxNode | null = node; outer; outer = outer.parent) depth += Number(outer.name === 'ListItem');
    const first = this.state.doc.lineAt(mark.from);
    for (const from of this.linesOf(node)) {
      this.deepen(from, { depth, first: from === first.from });
      if (from !== first.from) this.indent(from, depth);
    }
    if (first.to < this.from || first.from > this.to) return;
    this.indentTo(mark.from, first.from, depth - 1);
    this.itemMark(node, mark);
  }

  private itemMark(item: SyntaxNode, mark: SyntaxNode): void {
    const box = item.getChild('Task')?.getChild('TaskMarker');
    const end = this.afterBlank(mark.to);
    if (box) {
      if (isHeld(this.state, mark.from, box.to)) return this.add(prefix, mark.from, end);
      const done = this.text(box)[1] !== ' ';
      return this.add(Decoration.replace({ widget: new TaskBox(done, this.taskLabel) }), mark.from, this.afterBlank(box.to));
    }
    if (item.parent?.name === 'BulletList' && !isHeld(this.state, mark.from, mark.to)) {
      this.add(Decoration.replace({ widget: new Bullet() }), mark.from, end);
    } else this.add(prefix, mark.from, end);
  }

  private afterBlank = (at: number): number => at + Number(/[ \t]/.test(this.state.sliceDoc(at, at + 1)));

  private indent(from: number, depth: number): void {
    const { text } = this.state.doc.lineAt(from);
    const [before, blanks] = /^(?:[ \t]*> ?)*([ \t]*)/.exec(text)!;
    if (blanks) this.indentTo(from + before.length, from + before.length - blanks.length, depth);
  }

  private indentTo(to: number, least: number, depth: number): void {
    const [blanks] = /[ \t]*$/.exec(this.state.sliceDoc(least, to))!;
    if (!blanks || depth < 1) return;
    this.add(depth === 1 ? indentation : marked(`cm-indent cm-indent-${Math.min(depth, DEEPEST)}`), to - blanks.length, to);
  }

  /** A link with an address of its own; one by reference stays as it is written, for it may be just words in brackets. */
  private link(node: SyntaxNode): boolean {
    const url = node.getChild('URL');
    const [opening, closing] = node.getChildren('LinkMark');
    if (!url || !opening || !closing || closing.from === opening.to) return !url;
    if (isSafeAddress(this.text(url))) this.add(link, opening.to, closing.from);
    if (isHeld(this.state, node.from, node.to)) return true;
    this.add(hidden, opening.from, opening.to);
    this.hideAcross(closing.from, node.to);
    return true;
  }

  /** A replaced part may not hold a line break, so each line of it is hidden by itself. */
  private hideAcross(from: number, to: number): void {
    for (let at = from; at < to; ) {
      const end = Math.min(to, this.state.doc.lineAt(at).to);
      this.add(hidden, at, end);
      at = end + 1;
    }
  }

  private address(node: SyntaxNode): void {
    const url = node.getChild('URL');
    if (!url) return;
    this.add(link, url.from, url.to);
    if (isHeld(this.state, node.from, node.to)) return;
    this.add(hidden, node.from, url.from);
    this.add(hidden, url.to, node.to);
  }

  private picture(node: SyntaxNode): boolean {
    const url = node.getChild('URL');
    const [opening, closing] = node.getChildren('LinkMark');
    const whole = this.text(node);
    if (!url || !opening || !closing || whole.includes('\n') || isHeld(this.state, node.from, node.to)) return true;
    const widget = new Picture(this.state.sliceDoc(opening.to, closing.from), this.text(url));
    this.add(Decoration.replace({ widget }), node.from, node.to);
    return false;
  }
}

/** What is drawn of the text between two places; tables come by themselves. */
export function drawnBetween(state: EditorState, from: number, to: number, taskLabel = '', tree = syntaxTree(state)): DecorationSet {
  const drawing = new Drawing(state, from, to, taskLabel);
  tree.iterate({ from, to, enter: (node) => drawing.enter(node) });
  return Decoration.set(drawing.end(), true);
}

const marks = (taskLabel: string) =>
  ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;

      constructor(view: EditorView) {
        this.decorations = this.draw(view, firstTree(view.state));
      }

      update({ view, docChanged, viewportChanged, selectionSet, startState, state }: ViewUpdate): void {
        const other = syntaxTree(startState) !== syntaxTree(state) || startState.field(focus) !== state.field(focus);
        if (docChanged || viewportChanged || selectionSet || other) this.decorations = this.draw(view);
      }

      private draw(view: EditorView, tree = syntaxTree(view.state)): DecorationSet {
        const sets = view.visibleRanges.map(({ from, to }) => drawnBetween(view.state, from, to, taskLabel, tree));
        return sets.length === 1 ? sets[0]! : Decoration.set(sets.flatMap(rangesOf), true);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  );

function rangesOf(set: DecorationSet): Range<Decoration>[] {
  const found: Range<Decoration>[] = [];
  for (let at = set.iter(); at.value; at.next()) found.push(at.value.range(at.from, at.to));
  return found;
}

/** The text drawn as it will be read, but for the element the caret is in. */
export const livePreview = (taskLabel: string): Extension => [
  focusKept,
  marks(taskLabel),
  tables,
];
