import { parseId } from "./ids.ts";
import { CATEGORIES, type Summary } from "./item.ts";
import { fits, LIMITS } from "./limits.ts";
import { decodeFilter } from "./query.ts";
import { fail, invalid, ok, type Result } from "./result.ts";
import type { NamedVault } from "./vault.ts";

/** The filters of lists (contract 5): terms such as `title eq "…"`, joined by `and`, which all have to match; or ids, joined by `or`. */

export type Filter = readonly Term[];

export interface Term {
  /** Attribute and operator, in lower case: a key of the grammar. */
  readonly words: string;
  readonly value: string;
}

interface Rule<T> {
  /** The syntax of the operand. */
  readonly operand: RegExp;
  readonly passes: (entry: T, value: string) => boolean;
}

const TEXT = /^"[^]*"$/;
const CATEGORY = new RegExp(`^"(?:${CATEGORIES.join("|")})"$`, "i");
const BOOLEAN = /^(?:true|false)$/i;

/** The attributes of an Item that a filter reads. */
type FilteredItem = Pick<Summary, "title" | "tags" | "category" | "favorite">;

const ITEMS: Readonly<Record<string, Rule<FilteredItem>>> = {
  "title eq": { operand: TEXT, passes: (item, value) => item.title === value },
  "title co": { operand: TEXT, passes: (item, value) => item.title.includes(value) },
  "tag eq": { operand: TEXT, passes: (item, value) => item.tags.includes(value) },
  "category eq": { operand: CATEGORY, passes: (item, value) => item.category === value.toUpperCase() },
  "favorite eq": { operand: BOOLEAN, passes: (item, value) => String(item.favorite) === value.toLowerCase() },
};

/** The term of a filter by ids. It is combined with no other kind of term, so it is not in the grammar above (contract 5.11). */
const ID = "id eq";

/** The attributes of a Vault that a filter reads. `id` is a canonical UUID. */
type FilteredVault = Pick<NamedVault, "id" | "name">;

const hasName = (vault: FilteredVault, value: string) => vault.name.toLowerCase() === value.toLowerCase();
const VAULTS: Readonly<Record<string, Rule<FilteredVault>>> = {
  "name eq": { operand: TEXT, passes: hasName },
  "title eq": { operand: TEXT, passes: hasName },
};

/** Returns true if an Item matches any of the readings. Titles and tags are compared exactly. */
export const itemPasses = (readings: readonly Filter[], item: FilteredItem): boolean =>
  idsOf(readings) !== undefined ||
  readings.some((filter) => filter.every(({ words, value }) => ITEMS[words]!.passes(item, value)));

/** Returns the ids of a filter by ids, or undefined for another filter. */
export const idsOf = (readings: readonly Filter[]): readonly string[] | undefined =>
  readings[0]?.[0]?.words === ID ? readings.map(([term]) => term!.value) : undefined;

/** Returns the title in a filter of Items, if any. */
export const titleOf = (filter: Filter): string | undefined => filter.find(({ words }) => words === "title eq")?.value;

/**
 * Returns the Vaults of the first reading that matches any Vault. Names are compared without regard to case. If no reading matches, returns
 * the Vault with the filter's value as its id: the `op` command asks for a vault by id in this way, and other clients by `name eq`
 * (contract 5.10).
 */
export function passingVaults<V extends FilteredVault>(readings: readonly Filter[], vaults: readonly V[]): readonly V[] {
  for (const filter of readings) {
    const passing = vaults.filter((vault) => filter.every(({ words, value }) => VAULTS[words]!.passes(vault, value)));
    if (passing.length > 0) return passing;
  }
  const [term] = readings[0]!;
  const id = term && parseId(term.value);
  return id === undefined ? [] : vaults.filter((vault) => vault.id === id);
}

const LISTS = { items: ITEMS, vaults: VAULTS };

/**
 * The ways in which clients escape a value: quotes and backslashes, only quotes, or nothing. A value with a backslash is read in
 * each way, literally first (contract 5.9).
 */
const UNESCAPED: readonly ((value: string) => string)[] = [
  (value) => value,
  (value) => value.replace(/\\(["\\])/g, "$1"),
  (value) => value.replaceAll('\\"', '"'),
];

/**
 * Parses a filter as the client wrote it into the query. Returns its readings, the preferred reading first. An absent or empty
 * filter has one reading without terms. A filter without a backslash has one or two readings. `title eq "a" and tag eq "b"` is
 * first one title and then two terms, because clients do not escape quotes in titles (contract 5.6). A backslash gives at most
 * three times as many readings. Fails with 400 `Unsupported request filter`, or with the limit.
 */
export function parseFilter(raw: string | undefined, list: keyof typeof LISTS): Result<readonly Filter[]> {
  const text = decodeFilter(raw ?? "");
  if (text.trim() === "") return ok([[]]);
  // The attribute and the operators of the terms take less than the limit of a value.
  if (text.length > 2 * LIMITS.filter) return tooLong;
  if (list === "items" && IDS.test(text)) return parseIds(text);
  if (OR.test(text)) return fail("filter");
  const terms = parseTerms(text, list, TERMS[list]);
  const whole = parseTerms(text, list, LAST);
  if (!terms.ok || !whole.ok) return terms.ok ? ok(readingsOf(terms.value)) : whole.ok ? ok(readingsOf(whole.value)) : terms;
  const isTitle = terms.value.length > 1 && whole.value[0]?.words === "title eq";
  return ok([...(isTitle ? readingsOf(whole.value) : []), ...readingsOf(terms.value)]);
}

/** Returns the distinct readings of terms whose values are as the client wrote them. */
function readingsOf(terms: Filter): Filter[] {
  const readings = UNESCAPED.map((unescape) => terms.map(({ words, value }) => ({ words, value: unescape(value) })));
  return [...new Map(readings.map((reading) => [JSON.stringify(reading), reading])).values()];
}

function parseTerms(text: string, list: keyof typeof LISTS, pattern: RegExp): Result<Filter> {
  const rules = new Map(Object.entries<Rule<never>>(LISTS[list]));
  const terms: Term[] = [];
  for (let from = 0; from < text.length || terms.length === 0;) {
    pattern.lastIndex = from;
    const [whole = "", attribute = "", operator = "", operand = ""] = pattern.exec(text) ?? [];
    const words = `${attribute} ${operator}`.toLowerCase();
    if (!rules.get(words)?.operand.test(operand)) return fail("filter");
    const value = operand.replace(/^"([^]*)"$/, "$1");
    if (!fits(UNESCAPED[1]!(value), LIMITS.filter)) return tooLong;
    if (!value.isWellFormed()) return fail("filter");
    terms.push({ words, value });
    from += whole.length;
  }
  return ok(terms);
}

const IDS = /^\s*id\s+eq\s+"[^"]*"(?:\s+or\s+id\s+eq\s+"[^"]*")*\s*$/i;

/** Parses ids, each as one reading. Fails with 400 for a text that is not an id, and for too many ids. */
function parseIds(text: string): Result<readonly Filter[]> {
  const ids = [...text.matchAll(/"([^"]*)"/g)].map(([, id]) => parseId(id!));
  if (ids.length > LIMITS.filterIds) return invalid(`filter: names more than ${LIMITS.filterIds} ids`);
  const known = ids.filter((id) => id !== undefined);
  return known.length < ids.length ? fail("filter") : ok(known.map((value) => [{ words: ID, value }]));
}

const tooLong = invalid(`filter: is longer than ${LIMITS.filter} bytes`);

/**
 * The last term. A quoted value ends at the last quote of the filter, because clients do not escape inner quotes.
 * Groups: attribute, operator, operand.
 */
const LAST = /\s*(\w+)\s+(\w+)\s+("[^]*"|\w+)\s*$/y;

/** An unescaped quote, in the sense of `termOf`. */
const QUOTE = String.raw`(?<!(?<!\\)(?:\\\\)*\\)"`;

/**
 * Matches an alternative to a quoted value. Alternative terms are not supported, and the filter would be read as one value. The
 * operators are those of SCIM.
 */
const OR = new RegExp(String.raw`${QUOTE}\s+or\s+\w+\s+(?:eq|ne|co|sw|ew|gt|ge|lt|le)\s+["\w]`, "i");

/**
 * Returns a pattern for the next term. It is the last term, or ends at an unescaped quote before ` and <attribute> <operator>`.
 * An odd number of backslashes before a quote escapes it.
 */
function termOf(known: readonly string[]): RegExp {
  const term = `(?:${known.map((words) => words.replace(" ", String.raw`\s+`)).join("|")})`;
  const and = String.raw`\s+and\s+(?=${term}\s)`;
  return new RegExp(String.raw`\s*(\w+)\s+(\w+)\s+("[^]*?${QUOTE}(?=${and})|"[^]*"(?=\s*$)|\w+)(?:${and}|\s*$)`, "iy");
}

const TERMS = { items: termOf(Object.keys(ITEMS)), vaults: LAST };
