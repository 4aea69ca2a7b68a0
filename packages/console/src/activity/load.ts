import { firstIdAt, timeOf } from "@item-vault/model/ids";
import { type ReadonlySignal, signal } from "@preact/signals";
import { call, nextPage } from "../state/client.ts";
import { vaultName } from "../state/items.ts";
import { noteActor, addNames, knownName } from "../state/names.ts";
import { session } from "../state/session.ts";
import { isBroken, type Listed } from "./entries.ts";
import { boundsOf, type Filters, queryOf } from "./filters.ts";

export type PageQuery = Readonly<{ limit: number; before?: string | undefined }>;

type Query = ReturnType<typeof queryOf> & PageQuery;

/** The logs that a session can read: of the vaults of its token, and of the admin. */
export const LOGS = {
  vaults: { label: "Activity in vaults", load: (query: Query) => call("GET /v1/activity", { query }) },
  admin: { label: "Administration", load: (query: Query) => call("GET /v1/admin/activity", { query }) },
} as const;

export type Log = keyof typeof LOGS;

const PAGE = 100; // entries
const PAGES = 5;

export interface Loaded {
  readonly entries: readonly Listed[];
  /** The `before` of the entries that were not searched yet; absent when these are all. */
  readonly next?: string | undefined;
  /** The time up to which entries of the log may be missing; absent when none are (contract 13.10). */
  readonly gap?: string | undefined;
}

interface Bounds {
  /** Entries from this time on are requested, in Unix milliseconds; absent: all. */
  readonly from?: number | undefined;
  /** Number of entries after which no further page is loaded. */
  readonly enough?: number;
}

/**
 * Loads the entries of at most five pages, newest first. `load` loads a page; `before` is the `next` of the page before, absent for the
 * first.
 */
export async function loadPages(
  load: (query: PageQuery) => Promise<{ readonly data: readonly Listed[]; readonly headers: Headers }>,
  before: string | undefined,
  { from, enough = Infinity }: Bounds,
): Promise<Loaded> {
  const entries: Listed[] = [];
  let next = before;
  let gap: string | undefined;
  for (let page = 0; page < PAGES && entries.length < enough; page++) {
    const { data, headers } = await load({ limit: Math.min(PAGE, enough), before: next });
    entries.push(...data);
    next = nextPage(headers, "before"); // The last entry does not show it: a page may be empty (contract 13.20).
    gap = headers.get("Item-Vault-Log-Gap") ?? undefined;
    if (from !== undefined && next !== undefined && timeOf(next) < from) next = undefined;
    if (next === undefined) break;
  }
  const shown = from === undefined ? entries : entries.filter(({ timestamp = "" }) => Date.parse(timestamp) >= from);
  return { entries: shown, next, gap };
}

/** Loads at most some 500 entries of a log that match. Returns what `loadPages` returns. */
export function loadEntries(log: Log, filters: Filters, before: string | undefined): Promise<Loaded> {
  const { before: until, from } = boundsOf(filters);
  const first = before ?? (until === undefined ? undefined : firstIdAt(until));
  return loadPages((query) => LOGS[log].load({ ...query, ...queryOf(filters) }), first, { from });
}

/** The entries that a list shows, which grow page by page. */
export interface Entries {
  readonly loaded: ReadonlySignal<Loaded>;
  readonly state: ReadonlySignal<"loading" | "loaded" | "failed">;
  readonly failure: ReadonlySignal<unknown>;
  /** Loads older entries. Does not throw. */
  readonly more: () => Promise<void>;
}

/** Creates a list of entries from a function that loads those before the `next` of the page before. */
export function createEntries(load: (before: string | undefined) => Promise<Loaded>): Entries {
  const loaded = signal<Loaded>({ entries: [] });
  const state = signal<"loading" | "loaded" | "failed">("loading");
  const failure = signal<unknown>(undefined);
  const more = async () => {
    state.value = "loading";
    try {
      const page = await load(loaded.value.next);
      for (const entry of page.entries) if (!isBroken(entry)) noteActor(entry.actor.id, entry.actor.jti);
      loaded.value = { ...page, entries: [...loaded.value.entries, ...page.entries] };
      state.value = "loaded";
    } catch (error) {
      [failure.value, state.value] = [error, "failed"];
    }
  };
  return { loaded, state, failure, more };
}

/** The names of everything that a log is about, for administrators. */

const JOBS: Readonly<Record<string, string>> = {
  rewrap: "a re-wrap of all keys",
  verify: "a verification",
  backup: "a backup",
  restore: "a restore",
  expire: "a purge of expired items",
  purge: "a clean-up of deleted vaults",
};

/** The name of a vault of the session, or of one that an administrator's session has loaded. */
export const vaultNameOf = (id: string): string => vaultName(id) || knownName(id);

type Row = { readonly id: string; readonly name?: string; readonly email?: string; readonly kind?: string };

/** The lists with the names of actors, and the lists with the other names in the log of the administrator. */
export type NameList = "actors" | "subjects";

const LISTS: Readonly<Record<NameList, () => Promise<readonly { readonly data: readonly Row[] }[]>>> = {
  actors: () => Promise.all([call("GET /v1/admin/tokens"), call("GET /v1/admin/people"), call("GET /v1/admin/rules")]),
  subjects: () => Promise.all([call("GET /v1/admin/vaults"), call("GET /v1/admin/issuers"), call("GET /v1/admin/jobs")]),
};

/** Which lists were loaded, by the end of the session that has loaded them. */
const loadedFor = new Map<string, string | undefined>();

/** Loads names that an administrator may know, once in a session. A failure leaves the words for unknown ids. */
export function loadNames(...lists: readonly NameList[]): void {
  const { admin = false, expiresAt } = session.value ?? {};
  for (const list of lists.filter((one) => admin && loadedFor.get(one) !== expiresAt)) {
    loadedFor.set(list, expiresAt);
    LISTS[list]().then(
      (pages) =>
        addNames(pages.flatMap(({ data }) => data.map((row) => [row.id, row.name ?? row.email ?? JOBS[row.kind ?? ""] ?? ""]))),
      () => loadedFor.delete(list),
    );
  }
}
