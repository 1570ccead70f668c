/** A table of rows that J and K walk through; the last column is for what can be done with a row. */
import clsx from 'clsx';
import { useRef, type ReactNode } from 'react';
import { useRowKeys } from './rows';

export interface Column {
  label: string;
  /** Where it gives way on narrow screens, and how wide it is. */
  className?: string;
  align?: 'end';
  /** Named for those who listen, without a heading on screen. */
  silent?: boolean;
  /** How the rows are ordered by it, if they are. */
  sorted?: 'ascending' | 'descending' | undefined;
  /** What stands for the label on screen, such as a button that sorts. */
  head?: ReactNode;
}

export function Table({ columns, children }: { columns: Column[]; children: ReactNode }) {
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(list);
  return (
    <div ref={list}>
      <table className="w-full text-start">
        <thead>
          <tr className="border-b border-line text-sm text-muted">
            {columns.map((column) => <Heading key={column.label} column={column} />)}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Heading({ column: { label, className, align, silent, sorted, head } }: { column: Column }) {
  if (silent) return <th scope="col" className={clsx('w-12', className)}><span className="sr-only">{label}</span></th>;
  return (
    <th scope="col" aria-sort={sorted} className={clsx('px-4 py-2.5 font-medium', align === 'end' ? 'text-end' : 'text-start', className)}>
      {head ?? label}
    </th>
  );
}

const ROW = 'border-b border-line last:border-0 hover:bg-raised/60';

/** A row that the keyboard stops at. */
export function Row({ children }: { children: ReactNode }) {
  return <tr data-row tabIndex={-1} className={clsx(ROW, '-outline-offset-2')}>{children}</tr>;
}

/** A row that is one link: the keyboard stops at the link inside, which has `data-row` and spreads over the row. */
export function LinkedRow({ children }: { children: ReactNode }) {
  return <tr className={clsx(ROW, 'relative')}>{children}</tr>;
}
