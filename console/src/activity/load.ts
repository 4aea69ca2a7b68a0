import type { Entry } from "./entries.ts";
import { send } from "../api/client.ts";

/** The logs that a session can read: of the vaults of its token, and of the admin. */
export const LOGS = {
  vaults: { path: "/v1/activity", label: "Vaults" },
  admin: { path: "/v1/admin/activity", label: "Administration" },
} as const;

export type Log = keyof typeof LOGS;

const PAGE = 100; // entries
const PAGES = 5;

export interface Loaded {
  readonly entries: readonly Entry[];
  /** Whether the log has older entries. */
  readonly more: boolean;
}

/** Loads some 500 entries, the newest first, that are older than one entry. In: its `requestId`; absent: from the newest on. */
export async function loadEntries(log: Log, before: string | undefined): Promise<Loaded> {
  const entries: Entry[] = [];
  let [last, more] = [before, true];
  for (let page = 0; page < PAGES && more; page++) {
    const response = await send("GET", LOGS[log].path, { query: { limit: PAGE, before: last } });
    entries.push(...((await response.json()) as Entry[]));
    last = entries.at(-1)?.requestId;
    more = response.headers.get("Link")?.includes('rel="next"') ?? false;
  }
  return { entries, more };
}
