/** Rows beyond the view, so that a fast scroll shows no gap. */
const MARGIN = 8;

/** Returns the range of rows in view: the first row, and the row after the last. Sizes are in pixels. */
export const rowsInView = (top: number, view: number, height: number, count: number): [number, number] => [
  Math.max(0, Math.floor(top / height) - MARGIN),
  Math.min(count, Math.ceil((top + view) / height) + MARGIN),
];
