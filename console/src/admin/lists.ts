import { type ReadonlySignal, signal } from "@preact/signals";
import type { AdminVault, BrokenPerson, BrokenToken, BrokenVault, ListedToken, Person } from "@item-vault/client";
import { call } from "../api/client.ts";

/** The lists of the admin: vaults, tokens and people. Each is loaded when a view that shows it opens, and after each change. */

export interface List<T> {
  /** `undefined` until it was loaded. A later load replaces it when it has arrived. */
  readonly rows: ReadonlySignal<readonly T[] | undefined>;
  /** What the last load failed with. */
  readonly error: ReadonlySignal<unknown>;
  /** Does not throw. */
  readonly load: () => Promise<void>;
  /** The rows have ids of vaults, whose names are those of `adminVaults`. */
  readonly needsVaults: boolean;
}

function createList<T>(fetchRows: () => Promise<readonly T[]>, needsVaults: boolean): List<T> {
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
  return { rows, error, load, needsVaults };
}

export type VaultRow = AdminVault | BrokenVault;
export type TokenRow = ListedToken | BrokenToken;
export type PersonRow = Person | BrokenPerson;

export const adminVaults = createList(async () => (await call("GET /v1/admin/vaults")).data, false);
/** The newest first. */
export const tokens = createList(async () => (await call("GET /v1/admin/tokens")).data.toReversed(), true);
export const people = createList(async () => (await call("GET /v1/admin/people")).data, true);

/** Why the record of a row does not open (contract 13.18), in words. */
export const BROKEN: Readonly<Record<BrokenPerson["broken"], string>> = {
  integrity: "Its stored record is damaged.",
  misconfigured: "Its root key is missing, or does not open its keys.",
};
