import { foldText } from "../state/search.ts";

/** Whether one of some texts contains a query, as the search of Items compares texts. */
export function matches(query: string, ...texts: readonly string[]): boolean {
  const folded = foldText(query.trim());
  return texts.some((text) => foldText(text).includes(folded));
}

/** The id of what has no name, as short as people can compare it. */
export const shortId = (id: string): string => id.slice(0, 8);
