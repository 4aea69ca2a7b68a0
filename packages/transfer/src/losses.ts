import { LIMITS } from "@item-vault/model/limits";
import type { Loss } from "./item.ts";

/** Counts losses: data that a target cannot hold. */

/** The loss of Files that the service refuses. */
export const TOO_LARGE = `Files over ${LIMITS.file / 1_000_000} MB`;

const EXAMPLES_MAX = 3;

export class Losses {
  readonly #counts = new Map<string, { count: number; examples: string[] }>();

  /** Counts a loss. `what` names no value; `title`: the Item, for the report on the user's own terminal. */
  add(what: string, title?: string, count = 1): void {
    if (count === 0) return;
    const entry = this.#counts.get(what) ?? { count: 0, examples: [] };
    entry.count += count;
    if (title !== undefined && entry.examples.length < EXAMPLES_MAX && !entry.examples.includes(title))
      entry.examples.push(title);
    this.#counts.set(what, entry);
  }

  addAll(losses: readonly Loss[]): void {
    for (const { what, count, examples = [] } of losses) {
      this.add(what, undefined, count);
      const entry = this.#counts.get(what);
      const others = examples.filter((title) => !entry?.examples.includes(title));
      if (entry) entry.examples.push(...others.slice(0, EXAMPLES_MAX - entry.examples.length));
    }
  }

  list(): Loss[] {
    return [...this.#counts].map(([what, { count, examples }]) => ({ what, count, examples }));
  }
}
