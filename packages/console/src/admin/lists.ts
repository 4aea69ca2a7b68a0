import { type ReadonlySignal, signal } from "@preact/signals";
import type { AdminVault, BrokenPerson, BrokenToken, BrokenVault, Issuer, ListedToken, Person, Rule } from "@item-vault/client";
import { call } from "../state/client.ts";
import { shortId } from "./filter.ts";

/** The lists of the admin: vaults, tokens, people and workloads. Each is loaded when a view that shows it opens, and after each change. */

export interface List<T> {
  /** `undefined` until it was loaded. A later load replaces it when it has arrived. */
  readonly rows: ReadonlySignal<readonly T[] | undefined>;
  /** What the last load failed with. */
  readonly error: ReadonlySignal<unknown>;
  /** Does not throw. */
  readonly load: () => Promise<void>;
}

/** Creates a list from a function that loads its rows. */
export function createList<T>(fetchRows: () => Promise<readonly T[]>): List<T> {
  const rows = signal<readonly T[] | undefined>(undefined);
  const error = signal<unknown>(undefined);
  let newest = 0;
  const load = async () => {
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
export type IssuerRow = (Issuer | BrokenPerson) & { readonly kind: "issuer" };
export type RuleRow = (Rule | BrokenPerson) & { readonly kind: "rule" };
export type WorkloadRow = IssuerRow | RuleRow;

// The service sends the oldest first. The newest come first here, because a view shows only the first rows (ROWS_MAX in rows.tsx).
export const adminVaults = createList(async () => (await call("GET /v1/admin/vaults")).data.toReversed());
export const tokens = createList(async () => (await call("GET /v1/admin/tokens")).data.toReversed());
export const people = createList(async () => (await call("GET /v1/admin/people")).data.toReversed());
/** The issuers, the oldest first, each before its rules. Last the rules whose issuer is unknown, because their record does not open. */
export const workloads = createList(fetchWorkloads);

async function fetchWorkloads(): Promise<readonly WorkloadRow[]> {
  const [issuers, rules] = await Promise.all([call("GET /v1/admin/issuers"), call("GET /v1/admin/rules")]);
  const rows = rules.data.map(ruleRow);
  const known = new Set<string | undefined>(issuers.data.map(({ id }) => id));
  return [
    ...issuers.data.flatMap((issuer) => [issuerRow(issuer)].concat(rows.filter((rule) => issuerOf(rule) === issuer.id))),
    ...rows.filter((rule) => !known.has(issuerOf(rule))),
  ];
}

const issuerRow = (issuer: Issuer | BrokenPerson): WorkloadRow => ({ ...issuer, kind: "issuer" });
const ruleRow = (rule: Rule | BrokenPerson): RuleRow => ({ ...rule, kind: "rule" });
const issuerOf = (rule: RuleRow): string | undefined => ("broken" in rule ? undefined : rule.issuer);

/** Why the record of a row does not open (contract 13.18), in words. */
export const BROKEN: Readonly<Record<BrokenPerson["broken"], string>> = {
  integrity: "Its stored record is damaged.",
  misconfigured: "Its root key is missing or wrong.",
};

/** Returns the name of a row, or words with the beginning of its id if its record is damaged. */
const nameFor =
  <T extends { readonly id: string }>(noun: (row: T) => string, nameOf: (row: Exclude<T, BrokenRow>) => string) =>
  (row: T): string =>
    "broken" in row ? `Damaged ${noun(row)} ${shortId(row.id)}` : nameOf(row as Exclude<T, BrokenRow>);

type BrokenRow = { readonly broken: unknown };

export const nameOfVault = nameFor<VaultRow>(
  () => "vault",
  ({ name }) => name,
);
export const nameOfToken = nameFor<TokenRow>(
  () => "token",
  ({ name }) => name,
);
export const nameOfPerson = nameFor<PersonRow>(
  () => "person",
  ({ email }) => email,
);
export const nameOfWorkload = nameFor<WorkloadRow>(
  ({ kind }) => kind,
  ({ name }) => name,
);

/** Returns the name of the vault with a canonical id, which may no longer exist. */
export function vaultLabel(id: string): string {
  const rows = adminVaults.rows.value;
  const vault = rows?.find((row) => row.id === id);
  if (vault) return nameOfVault(vault);
  // Until the list is loaded, nobody knows whether the vault exists.
  return `${rows ? "Deleted vault" : "Vault"} ${shortId(id)}`;
}
