/** Markdown to React elements. No HTML text is ever made: raw HTML shows as text, addresses are allow-listed. */
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import type { Link, Nodes, Root, Table } from 'mdast';
import { gfm } from 'micromark-extension-gfm';
import { Fragment, useMemo, type ReactNode } from 'react';

const SAFE = /^(https?:|mailto:|#|\/(?!\/))/i;

const all = (nodes: Nodes[]): ReactNode[] => nodes.map((node, key) => <Fragment key={key}>{shown(node)}</Fragment>);

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
      return SAFE.test(node.url) ? (
        <a href={node.url} rel="noopener noreferrer" {...(/^[#/]/.test(node.url) ? {} : elsewhere(node))}>
          {all(node.children)}
        </a>
      ) : (
        all(node.children)
      );
    case 'image':
      return node.alt ?? '';
    case 'list':
      return node.ordered ? <ol start={node.start ?? 1}>{all(node.children)}</ol> : <ul>{all(node.children)}</ul>;
    case 'listItem':
      return (
        <li>
          {node.checked != null && (
            <input type="checkbox" checked={node.checked} readOnly disabled aria-hidden className="me-2 align-middle" />
          )}
          {tight(node.children)}
        </li>
      );
    case 'blockquote':
      return <blockquote>{all(node.children)}</blockquote>;
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

/** A list item of one paragraph needs no paragraph. */
function tight(children: Nodes[]): ReactNode {
  const [first, ...rest] = children;
  return first?.type === 'paragraph' ? [<Fragment key="first">{all(first.children)}</Fragment>, ...all(rest)] : all(children);
}

function TableOf({ table }: { table: Table }) {
  const [head, ...rows] = table.children;
  return (
    <div className="wide" tabIndex={0}>
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

export default function Markdown({ source }: { source: string }) {
  const tree = useMemo(() => treeOf(source), [source]);
  return <>{all(tree.children)}</>;
}
