import { type ReadonlySignal, signal } from "@preact/signals";
import type { AdminVault, BrokenPerson, BrokenToken, BrokenVault, Issuer, ListedToken, Person, Rule } from "@item-vault/client";
import { call } from "../state/client.ts";

/** The lists of the admin: vaults, tokens, people and workloads. Each is loaded when a view that shows it opens, and after each change. */

/** Returns the beginning of an id, which people can compare. */
export const shortId = (id: string): string => id.slice(0, 8);

export interface List<T> {
  /** `undefined` until it was loaded. A later load replaces it when it has arrived. */
  readonly rows: ReadonlySignal<readonly T[] | undefined>;
  readonly error: ReadonlySignal<unknown>;
  /** Does not throw. */
  readonly load: () => Promise<void>;
}

export function createList<T>(fetchRows: () => Promise<readonly T[]>): List<T> {
  const rows = signal<readonly T[] | undefined>(undefined);
  const error = signal<unknown>(undefined);
  let newest = 0;
  let next: Promise<void> | undefined;
  // Parts of a view that load at once share a request.
  const load = () => (next ??= Promise.resolve().then(request));
  const request = async () => {
    next = undefined;
    // An answer that arrives after that to a later request is older.
    const number = ++newest;
    try {
      const loaded = await fetchRows();
      if (number === newest) [rows.value, error.value] = [loaded, undefined];
    } catch (caught) {
      if (number === newest) error.value = caught;
    }
  };
  return { rows, error, load };
}

export type VaultRow = AdminVault | BrokenVault;
export type TokenRow = ListedToken | BrokenToken;
export type PersonRow = Person | BrokenPerson;
export type RuleRow = (Rule | BrokenPerson) & { readonly kind: "rule" };
export type WorkloadRow = ((Issuer | BrokenPerson) & { readonly kind: "issuer" }) | RuleRow;

// The service sends the oldest first. The newest come first here, because a view shows only the first rows (ROWS_MAX in rows.tsx).
export const adminVaults = createList(async () => (await call("GET /v1/admin/vaults")).data.toReversed());
export const tokens = createList(async () => (await call("GET /v1/admin/tokens")).data.toReversed());
export const people = createList(async () => (await call("GET /v1/admin/people")).data.toReversed());
/** The issuers, the oldest first, each before its rules. Last the rules whose issuer is unknown, because their record cannot be decrypted. */
export const workloads = createList(async (): Promise<readonly WorkloadRow[]> => {
  const [issuers, rules] = await Promise.all([call("GET /v1/admin/issuers"), call("GET /v1/admin/rules")]);
  const rows: readonly WorkloadRow[] = [
    ...issuers.data.map((issuer) => Object.assign(issuer, { kind: "issuer" } as const)),
    ...rules.data.map((rule) => Object.assign(rule, { kind: "rule" } as const)),
  ];
  const places = new Map(issuers.data.map(({ id }, place) => [id, place]));
  const placeOf = (row: WorkloadRow) =>
    places.get(row.kind === "issuer" ? row.id : "issuer" in row ? row.issuer : "") ?? places.size;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
});

/** Why the record of a row cannot be decrypted (contract 13.18), in words. */
export const BROKEN: Readonly<Record<BrokenPerson["broken"], string>> = {
  integrity: "Its stored record is damaged.",
  misconfigured: "Its root key is missing or wrong.",
};

type NamedRow = { readonly id: string } & ({ readonly broken: unknown } | { readonly name: string } | { readonly email: string });

/** Returns a function that names a row, or a row whose record is damaged by the beginning of its id. */
const nameFor =
  (noun: string) =>
  (row: NamedRow): string =>
    "broken" in row ? `Damaged ${noun} ${shortId(row.id)}` : "email" in row ? row.email : row.name;

export const nameOfVault = nameFor("vault");
export const nameOfToken = nameFor("token");
export const nameOfPerson = nameFor("person");
export const nameOfWorkload = (row: WorkloadRow): string => nameFor(row.kind)(row);

/** Returns the name of the vault with a canonical id, which may no longer exist. */
export function vaultLabel(id: string): string {
  const rows = adminVaults.rows.value;
  const vault = rows?.find((row) => row.id === id);
  if (vault) return nameOfVault(vault);
  // Until the list is loaded, nobody knows whether the vault exists.
  return `${rows ? "Deleted vault" : "Vault"} ${shortId(id)}`;
}
