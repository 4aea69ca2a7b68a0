import { ACTIONS, type ActivityFilter, RESULTS } from "../../model/activity.ts";
import { isId, parseId } from "../../model/ids.ts";
import { WITHOUT_TOKEN } from "../../model/operation.ts";
import { invalid, ok, type Result } from "../../model/result.ts";

/** The filters of the activity logs (contract 13.25). */

const idOf = (text: string): string | undefined => {
  const id = parseId(text);
  return id !== undefined && isId(id) ? id : undefined;
};

const wordOf =
  (words: readonly string[]) =>
  (text: string): string | undefined =>
    words.includes(text) ? text : undefined;

/** Each parameter: what it has to be, and its value; `undefined` for a malformed one. */
const FILTERS: Readonly<Record<keyof ActivityFilter, readonly [what: string, (text: string) => string | undefined]>> = {
  vault: ["is not the id of a vault", idOf],
  actor: ["is not the id of an actor", (text) => (WITHOUT_TOKEN.has(text) ? text : idOf(text))],
  item: ["is not the id of an Item", idOf],
  action: [`is not one of ${ACTIONS.join(", ")}`, wordOf(ACTIONS)],
  result: [`is not one of ${RESULTS.join(", ")}`, wordOf(RESULTS)],
};

/** A filter, and its part of the query of the next page, which begins with `&`. */
export interface Filtered {
  readonly filter: ActivityFilter;
  readonly query: string;
}

/** Out: `undefined` without any filter. Errors: 400, for a malformed one. */
export function parseFilter(rest: URLSearchParams): Result<Filtered | undefined> {
  const filter: Record<string, string> = {};
  for (const [name, [what, parseValue]] of Object.entries(FILTERS)) {
    const text = rest.get(name);
    if (text === null) continue;
    const value = parseValue(text);
    if (value === undefined) return invalid(`${name}: ${what}`);
    filter[name] = value;
  }
  const query = Object.entries(filter).map(([name, value]) => `&${name}=${value}`);
  return ok(query.length === 0 ? undefined : { filter, query: query.join("") });
}
