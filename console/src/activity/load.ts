import { firstIdAt, timeOf } from "@item-vault/model/ids";
import type { Listed } from "./entries.ts";
import { call } from "../api/client.ts";
import { boundsOf, type Filters, queryOf } from "./filters.ts";

type Query = ReturnType<typeof queryOf> & { readonly limit: number; readonly before?: string | undefined };

/** The logs that a session can read: of the vaults of its token, and of the admin. */
export const LOGS = {
  vaults: { label: "Vaults", load: (query: Query) => call("GET /v1/activity", { query }) },
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

/** Loads at most some 500 entries that match, the newest first. In: the `next` before; absent: from the newest on. */
export async function loadEntries(log: Log, filters: Filters, before: string | undefined): Promise<Loaded> {
  const entries: Listed[] = [];
  const bounds = boundsOf(filters);
  let next = before ?? (bounds.before === undefined ? undefined : firstIdAt(bounds.before));
  let gap: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const { data, headers } = await LOGS[log].load({ limit: PAGE, before: next, ...queryOf(filters) });
    entries.push(...data);
    next = beforeOf(headers);
    gap = headers.get("Item-Vault-Log-Gap") ?? undefined;
    if (next === undefined) break;
    if (bounds.from !== undefined && timeOf(next) < bounds.from) next = undefined;
    if (next === undefined) break;
  }
  const { from } = bounds;
  const shown = from === undefined ? entries : entries.filter(({ timestamp = "" }) => Date.parse(timestamp) >= from);
  return { entries: shown, next, gap };
}

/** The `before` in the link to the next page (contract 13.20). The last entry does not tell it: a page may be empty. */
function beforeOf(headers: Headers): string | undefined {
  const [, link] = /<([^>]*)>;\s*rel="next"/.exec(headers.get("Link") ?? "") ?? [];
  return link === undefined ? undefined : (new URL(link, location.origin).searchParams.get("before") ?? undefined);
}
