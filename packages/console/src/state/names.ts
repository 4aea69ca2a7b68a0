import { signal } from "@preact/signals";
import { parseId } from "@item-vault/model/ids";
import { call } from "./client.ts";
import { vaultName } from "./items.ts";
import { session } from "./session.ts";

/** The names of who wrote, and of what entries of the activity are about, by their ids. */

/** Who writes without a token (contract 13.11). */
const OTHERS: Readonly<Record<string, string>> = { admin: "the administrator", service: "the service" };

/** What the jobs of each kind are called. */
const JOBS: Readonly<Record<string, string>> = {
  rewrap: "a re-wrap of all keys",
  verify: "a verification",
  backup: "a backup",
  restore: "a restore",
  expire: "a purge of expired items",
  purge: "a clean-up of deleted vaults",
};

const names = signal<ReadonlyMap<string, string>>(new Map());

/** The name of a token, person, rule, vault, issuer or job that an administrator's session has loaded; otherwise an empty text. */
export const knownName = (id: string): string => names.value.get(parseId(id) ?? id) ?? "";

/** The name of a vault of the session, or of one that an administrator's session has loaded. */
export const vaultNameOf = (id: string): string => vaultName(id) || knownName(id);

/** Returns true if the session's token or person has this id. */
export function isOwn(id: string): boolean {
  const { token, person } = session.value ?? {};
  const key = parseId(id) ?? id;
  return [token?.id, person?.id].some((each) => each !== undefined && parseId(each) === key);
}

/** Returns `you` for the session's own token or person, the name where it is known, and otherwise words with the beginning of the id. */
export function nameOf(id: string): string {
  if (isOwn(id)) return "you";
  return OTHERS[id] ?? (knownName(id) || (id === "" ? "unknown" : `someone else (${id.slice(0, 8)})`));
}

type Row = { readonly id: string; readonly name?: string; readonly email?: string; readonly kind?: string };

/** The lists that name who acts, and those that name what else the log of the administrator is about. */
const LISTS: Readonly<Record<"actors" | "subjects", () => Promise<readonly { readonly data: readonly Row[] }[]>>> = {
  actors: () => Promise.all([call("GET /v1/admin/tokens"), call("GET /v1/admin/people"), call("GET /v1/admin/rules")]),
  subjects: () => Promise.all([call("GET /v1/admin/vaults"), call("GET /v1/admin/issuers"), call("GET /v1/admin/jobs")]),
};

/** Which lists were loaded, by the end of the session that has loaded them. */
const loadedFor = new Map<string, string | undefined>();

/** Loads names that an administrator may know, once in a session. A failure leaves the words for unknown ids. */
export async function loadNames(list: keyof typeof LISTS = "actors"): Promise<void> {
  const { admin = false, expiresAt } = session.value ?? {};
  if (!admin || loadedFor.get(list) === expiresAt) return;
  loadedFor.set(list, expiresAt);
  try {
    const rows = (await LISTS[list]()).flatMap(({ data }) => data);
    names.value = new Map([
      ...names.value,
      ...rows.map((row) => [row.id, row.name ?? row.email ?? JOBS[row.kind ?? ""] ?? ""] as const),
    ]);
  } catch {
    loadedFor.delete(list);
  }
}
