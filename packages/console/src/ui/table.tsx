import type { ComponentChildren } from "preact";

interface Column<T> {
  readonly label: string;
  readonly cell: (row: T) => ComponentChildren;
}

/** The first column names the row. */
export type Columns<T> = readonly [Column<T>, ...Column<T>[]];

interface Props<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly columns: Columns<T>;
  /** The buttons of a row. */
  readonly actions?: (row: T) => ComponentChildren;
}

/** A table. On a narrow screen each row is a card, in which each cell has its column's label. */
export function Table<T>({ label, rows, keyOf, columns: [first, ...others], actions }: Props<T>) {
  return (
    <table class="cards" aria-label={label}>
      <thead>
        <tr>
          {[first, ...others].map((column) => (
            <th key={column.label} scope="col">
              {column.label}
            </th>
          ))}
          {actions && (
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            <th scope="row">{first.cell(row)}</th>
            {others.map((column) => (
              <td key={column.label} data-label={column.label}>
                <div>{column.cell(row)}</div>
              </td>
            ))}
            {actions && (
              <td>
                <div class="buttons">{actions(row)}</div>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
