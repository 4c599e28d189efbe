// A table whose columns sort by a button in their head.
import { Fragment, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

type Key = number | string | bigint;

export interface Column<T> {
  key: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  sort?: (row: T) => Key;
  numeric?: boolean;
}

interface Props<T> {
  caption: string;
  columns: Column<T>[];
  rows: T[];
  empty?: ComponentChildren;
  below?: (row: T) => ComponentChildren; // a sentence on a row of its own
}

// A row that is as wide as what is seen of its table, and stays there when the table is scrolled.
export function Below({ columns, children }: { columns: number; children: ComponentChildren }) {
  return (
    <tr class="why">
      <td colSpan={columns}>
        <div>{children}</div>
      </td>
    </tr>
  );
}

const order = (a: Key, b: Key) => (a < b ? -1 : a > b ? 1 : 0);

export function Table<T>({ caption, columns, rows, empty, below }: Props<T>) {
  const [by, setBy] = useState<{ key: string; down: boolean }>();
  if (rows.length === 0 && empty) return <>{empty}</>;
  const sort = columns.find((column) => column.key === by?.key)?.sort;
  const sorted = sort ? [...rows].sort((a, b) => order(sort(a), sort(b)) * (by?.down ? -1 : 1)) : rows;
  return (
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => {
              const direction = by?.key === column.key ? (by.down ? 'descending' : 'ascending') : undefined;
              return (
                <th key={column.key} scope="col" class={column.numeric ? 'numeric' : ''} aria-sort={direction}>
                  {column.sort ? (
                    <button
                      type="button"
                      onClick={() => setBy({ key: column.key, down: direction === 'ascending' })}
                    >
                      {column.title}
                      <span aria-hidden="true">
                        {direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : ' ↕'}
                      </span>
                    </button>
                  ) : (
                    column.title
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row, index) => {
            const sentence = below?.(row);
            return (
              <Fragment key={index}>
                <tr class={sentence ? 'explained' : ''}>
                  {columns.map((column) => (
                    <td key={column.key} class={column.numeric ? 'numeric' : ''}>
                      {column.cell(row)}
                    </td>
                  ))}
                </tr>
                {sentence && <Below columns={columns.length}>{sentence}</Below>}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
