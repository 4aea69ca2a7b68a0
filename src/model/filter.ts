import { CATEGORIES, type Summary } from "./item.ts";
import { fits, LIMITS } from "./limits.ts";
import { decodeFilter } from "./query.ts";
import { fail, invalid, ok, type Result } from "./result.ts";
import type { Vault } from "./vault.ts";

/** The filters of lists: `title eq "…"`, and more such terms with `and` between them, which all have to hold. */

export type Filter = readonly Term[];

export interface Term {
  /** Attribute and operator, in lower case: a key of the grammar. */
  readonly words: string;
  readonly value: string;
}

interface Rule<T> {
  /** What may follow the words. */
  readonly operand: RegExp;
  readonly passes: (entry: T, value: string) => boolean;
}

const TEXT = /^"[^]*"$/;
const CATEGORY = new RegExp(`^"(?:${CATEGORIES.join("|")})"$`, "i");
const BOOLEAN = /^(?:true|false)$/i;

const ITEMS: Readonly<Record<string, Rule<Summary>>> = {
  "title eq": { operand: TEXT, passes: (item, value) => item.title === value },
  "title co": { operand: TEXT, passes: (item, value) => item.title.includes(value) },
  "tag eq": { operand: TEXT, passes: (item, value) => item.tags.includes(value) },
  "category eq": { operand: CATEGORY, passes: (item, value) => item.category === value.toUpperCase() },
  "favorite eq": { operand: BOOLEAN, passes: (item, value) => String(item.favorite) === value.toLowerCase() },
};

const isNamed = (vault: Vault, value: string) => vault.name.toLowerCase() === value.toLowerCase();
const VAULTS: Readonly<Record<string, Rule<Vault>>> = {
  "name eq": { operand: TEXT, passes: isNamed },
  "title eq": { operand: TEXT, passes: isNamed },
};

/** Whether an Item passes. Titles and tags compare exactly. */
export const itemPasses = (filter: Filter, item: Summary): boolean =>
  filter.every(({ words, value }) => ITEMS[words]!.passes(item, value));

/** Whether a Vault passes: names compare without regard to case. */
export const vaultPasses = (filter: Filter, vault: Vault): boolean =>
  filter.every(({ words, value }) => VAULTS[words]!.passes(vault, value));

const LISTS = { items: ITEMS, vaults: VAULTS };

/**
 * Reads a filter as the client wrote it into the query.
 * Out: its readings, the first that finds something counts. There is one, but for `title eq "a" and tag eq "b"`: clients
 * write titles without escaping quotes, so that may be one title (contract 1.5), and only if none is called so are these
 * two terms. No filter: one reading without terms. Errors: 400 `Unsupported request filter`, or the limit.
 */
export function parseFilter(raw: string | undefined, list: keyof typeof LISTS): Result<readonly Filter[]> {
  if (raw === undefined) return ok([[]]);
  const text = decodeFilter(raw);
  // A term and what surrounds it take less than its value may.
  if (text.length > 2 * LIMITS.filter) return tooLong;
  const terms = parseTerms(text, list, TERMS[list]);
  const whole = parseTerms(text, list, LAST);
  if (!terms.ok || !whole.ok) return terms.ok ? ok([terms.value]) : whole.ok ? ok([whole.value]) : terms;
  const isTitle = terms.value.length > 1 && whole.value[0]?.words === "title eq";
  return ok(isTitle ? [whole.value, terms.value] : [terms.value]);
}

function parseTerms(text: string, list: keyof typeof LISTS, pattern: RegExp): Result<Filter> {
  const rules = new Map(Object.entries<Rule<never>>(LISTS[list]));
  const terms: Term[] = [];
  for (let from = 0; from < text.length || terms.length === 0;) {
    pattern.lastIndex = from;
    const [whole = "", attribute = "", operator = "", operand = ""] = pattern.exec(text) ?? [];
    const words = `${attribute} ${operator}`.toLowerCase();
    if (!rules.get(words)?.operand.test(operand)) return fail("filter");
    const value = operand.replace(/^"([^]*)"$/, "$1").replaceAll('\\"', '"');
    if (!fits(value, LIMITS.filter)) return tooLong;
    if (!value.isWellFormed()) return fail("filter");
    terms.push({ words, value });
    from += whole.length;
  }
  return ok(terms);
}

const tooLong = invalid(`filter: is longer than ${LIMITS.filter} bytes`);

/** The last term: a quoted value ends at the filter's last quote, because clients write inner quotes bare. Groups: attribute, operator, operand. */
const LAST = /\s*(\w+)\s+(\w+)\s+("[^]*"|\w+)\s*$/y;

/** The next term: it is the last, or ends at a quote that no backslash precedes and that ` and <attribute> <operator>` follows. */
function termOf(known: readonly string[]): RegExp {
  const term = `(?:${known.map((words) => words.replace(" ", String.raw`\s+`)).join("|")})`;
  const and = String.raw`\s+and\s+(?=${term}\s)`;
  return new RegExp(String.raw`\s*(\w+)\s+(\w+)\s+("[^]*?(?<!\\)"(?=${and})|"[^]*"(?=\s*$)|\w+)(?:${and}|\s*$)`, "iy");
}

const TERMS = { items: termOf(Object.keys(ITEMS)), vaults: LAST };
