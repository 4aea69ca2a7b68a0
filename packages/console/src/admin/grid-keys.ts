import { placeAfter } from "./scope.ts";

/** The keys of a grid (ARIA Authoring Practices Guide, pattern "grid"): its controls have their place in `data-place`. */

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
