/** The keys of a grid (ARIA Authoring Practices Guide, pattern "grid"): its controls have their place in `data-place`. */

/** Each key, with the rows and columns by which it moves. */
const STEPS: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  PageDown: [10, 0],
  PageUp: [-10, 0],
};

const within = (value: number, count: number): number => Math.min(count - 1, Math.max(0, value));

/** Returns the place to which a key moves, as "row/column". Returns undefined for another key. */
export function placeAfter(key: string, place: string, rows: number, columns: number): string | undefined {
  const step = STEPS[key];
  if (!step) return undefined;
  const [row = 0, column = 0] = place.split("/").map(Number);
  return `${within(row + step[0], rows)}/${within(column + step[1], columns)}`;
}

/** Moves the focus within the grid on which the key was pressed. */
export function moveInGrid(event: KeyboardEvent): void {
  const grid = event.currentTarget as HTMLElement;
  const { place } = (event.target as HTMLElement).dataset;
  if (place === undefined) return;
  const all = [...grid.querySelectorAll<HTMLElement>("[data-place]")];
  const [rows = 0, columns = 0] = (all.at(-1)?.dataset["place"] ?? "").split("/").map((index) => Number(index) + 1);
  const next = placeAfter(event.key, place, rows, columns);
  if (next === undefined) return;
  event.preventDefault();
  all.find(({ dataset }) => dataset["place"] === next)?.focus();
}
