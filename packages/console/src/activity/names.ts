import { call } from "../state/client.ts";
import { vaultName } from "../state/items.ts";
import { addNames, knownName } from "../state/names.ts";
import { session } from "../state/session.ts";

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
