import { titleOf } from "../items/categories.ts";

/** Titles that are shown of a list that may be long. */
const SHOWN = 100;

/** Titles of Items, folded up. */
export function TitleList({ summary, titles }: { readonly summary: string; readonly titles: readonly string[] }) {
  return (
    <details>
      <summary>
        {summary} ({titles.length})
      </summary>
      <ul>
        {titles.slice(0, SHOWN).map((title, index) => (
          <li key={index}>{titleOf({ title })}</li>
        ))}
        {titles.length > SHOWN && <li>and {titles.length - SHOWN} more</li>}
      </ul>
    </details>
  );
}
