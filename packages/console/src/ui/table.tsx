import type { ComponentChildren } from "preact";

export type Column<T> = Readonly<{ label: string; cell: (row: T) => ComponentChildren }>;

/** The first column names the row. */
type Props<T> = Readonly<{ label: string; rows: readonly T[]; keyOf: (row: T) => string; columns: readonly Column<T>[] }>;

/** A table. In a narrow place each row is a card, in which each cell has its column's label. */
export const Table = <T,>({ label, rows, keyOf, columns: [first, ...others] }: Props<T>) => (
  <div class="table">
    <table class="cards" aria-label={label}>
      <thead>
        <tr>
          {[first!, ...others].map((column) => (
            <th key={column.label} scope="col">
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          // The button of the row, which keys reach, is pressed by a click anywhere in it.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
          <tr key={keyOf(row)} onClick={pressRow}>
            <th scope="row">{first!.cell(row)}</th>
            {others.map((column) => (
              <td key={column.label} data-label={column.label}>
                <div>{column.cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

function pressRow({ target, currentTarget }: MouseEvent & { readonly currentTarget: HTMLElement }): void {
  if ((target as Element).closest("a, button") === null && getSelection()?.isCollapsed !== false)
    currentTarget.querySelector<HTMLElement>(".row-name")?.click();
}
