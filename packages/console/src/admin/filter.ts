import { foldText } from "../state/search.ts";

/** Returns true if any text contains a query, compared as in the search of Items. */
export function matches(query: string, ...texts: readonly string[]): boolean {
  const folded = foldText(query.trim());
  return texts.some((text) => foldText(text).includes(folded));
}
