/** Markdown to React elements. No HTML text is ever made: raw HTML shows as text, addresses are allow-listed. */
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import type { Blockquote, Link, List, ListItem, Nodes, Root, Table } from 'mdast';
import { gfm } from 'micromark-extension-gfm';
import { cloneElement, createContext, Fragment, isValidElement, useContext, useMemo } from 'react';
import type { CSSProperties, ReactElement, ReactNode } from 'react';
import { isOwnPicture, isSafeAddress } from './addresses';

const all = (nodes: Nodes[]): ReactNode[] => nodes.map((node, key) => <Fragment key={key}>{shown(node)}</Fragment>);

/** Whether lines and the empty lines between blocks are kept, as the editor draws them. */
const Spaced = createContext(false);
const LINE = 1.5;

/** Blocks below each other, as far apart as they are written. */
function Blocks({ nodes, after }: { nodes: Nodes[]; after: number }): ReactNode {
  if (!useContext(Spaced)) return all(nodes);
  let last = after;
  return nodes.map((node, key) => {
    const block = node.type === 'html' ? <p>{node.value}</p> : shown(node);
    if (!isValidElement(block) || !node.position) return <Fragment key={key}>{block}</Fragment>;
    const empty = node.position.start.line - last - 1;
    last = node.position.end.line;
    const style = empty > 0 ? { marginTop: `${empty * LINE}rem` } : {};
    return cloneElement(block as ReactElement<{ style: CSSProperties }>, { key, style });
  });
}

function shown(node: Nodes): ReactNode {
  switch (node.type) {
    case 'text':
    case 'html':
      return node.value;
    case 'paragraph':
      return <p>{all(node.children)}</p>;
    case 'heading': {
      // The note's own title is the page's first heading.
      const Heading = `h${Math.min(6, node.depth + 1)}` as 'h2';
      return <Heading>{all(node.children)}</Heading>;
    }
    case 'strong':
      return <strong>{all(node.children)}</strong>;
    case 'emphasis':
      return <em>{all(node.children)}</em>;
    case 'delete':
      return <del>{all(node.children)}</del>;
    case 'inlineCode':
      return <code>{node.value}</code>;
    case 'code':
      return <pre tabIndex={0}><code>{node.value}</code></pre>;
    case 'link':
      return isSafeAddress(node.url) ? (
        <a href={node.url} rel="noopener noreferrer" {...(/^[#/]/.test(node.url) ? {} : elsewhere(node))}>
          {all(node.children)}
        </a>
      ) : (
        all(node.children)
      );
    case 'image':
      return isOwnPicture(node.url) ? <img src={node.url} alt={node.alt ?? ''} /> : (node.alt ?? '');
    case 'list':
      return node.ordered ? <ol start={node.start ?? 1}>{within(node)}</ol> : <ul>{within(node)}</ul>;
    case 'listItem':
      return (
        <li>
          {node.checked != null && (
            <input type="checkbox" checked={node.checked} readOnly disabled aria-hidden className="me-2 align-middle" />
          )}
          {tight(node)}
        </li>
      );
    case 'blockquote':
      return <blockquote>{within(node)}</blockquote>;
    case 'thematicBreak':
      return <hr />;
    case 'break':
      return <br />;
    case 'table':
      return <TableOf table={node} />;
    default:
      return 'children' in node ? all(node.children as Nodes[]) : null;
  }
}

/** Where a link leads, unless its words say just that. */
const elsewhere = ({ url, children: [words] }: Link) => ({
  target: '_blank',
  title: url,
  ...(words?.type === 'text' && url.endsWith(words.value) ? {} : { 'data-address': url }),
});

const within = (node: Blockquote | List | ListItem) => <Blocks nodes={node.children} after={(node.position?.start.line ?? 1) - 1} />;

/** A list item of one paragraph needs no paragraph. */
function tight(node: ListItem): ReactNode {
  const [first, ...rest] = node.children;
  if (first?.type !== 'paragraph') return within(node);
  return (
    <>
      {all(first.children)}
      <Blocks nodes={rest} after={first.position?.end.line ?? 0} />
    </>
  );
}

function TableOf({ table, style }: { table: Table; style?: CSSProperties }) {
  const [head, ...rows] = table.children;
  return (
    <div className="wide" tabIndex={0} style={style}>
      <table>
        <thead>
          <tr>{head?.children.map((cell, at) => <th key={at} scope="col">{all(cell.children)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>{row.children.map((cell, column) => <td key={column}>{all(cell.children)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What was read last, so that a text that moves on the page is not read again. */
const read = new Map<string, Root>();
const MOST = 256;

function treeOf(source: string): Root {
  const tree = read.get(source) ?? fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  read.delete(source);
  read.set(source, tree);
  if (read.size > MOST) read.delete(read.keys().next().value!);
  return tree;
}

export default function Markdown({ source, spaced = false }: { source: string; spaced?: boolean }) {
  const tree = useMemo(() => treeOf(source), [source]);
  return <Spaced value={spaced}><Blocks nodes={tree.children} after={0} /></Spaced>;
}
