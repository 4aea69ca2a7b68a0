import type {
  AdminVault,
  BrokenPerson,
  BrokenToken,
  BrokenVault,
  Issuer,
  ListedToken,
  Person,
  Rule,
  Webhook,
} from "@item-vault/client";
import { type ReadonlySignal, signal } from "@preact/signals";
import { isErrorKind } from "../failures/explain.ts";
import { call } from "../state/client.ts";
import { remind } from "../state/health.ts";

/** The lists of the admin: vaults, tokens, people, workloads and webhooks. Each is loaded when a view that shows it opens, and after each change. */

/** Returns the beginning of an id, which people can compare. */
export const shortId = (id: string): string => id.slice(0, 8);

/** Rows of type `T`. `load` takes a changed row: a list may then load less than all. */
export interface List<T> {
  /** `undefined` until it was loaded. A later load replaces it when it has arrived. */
  readonly rows: ReadonlySignal<readonly T[] | undefined>;
  readonly error: ReadonlySignal<unknown>;
  /** Does not throw. */
  readonly load: (changed?: T) => Promise<void>;
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

export type WebhookRow = Webhook & { readonly vault: string };

const failsToDeliver = ({ state, failures }: WebhookRow): boolean => state === "PAUSED" || failures > 0;

/** The last request for the webhooks of each vault that has any. While it is empty, a load asks for all. */
const requested = new Map<string, Promise<readonly WebhookRow[]>>();

const webhookList = createList(async () => {
  if (requested.size === 0) await requestAll();
  const rows = (await Promise.all(requested.values())).flat();
  const failing = rows.filter(failsToDeliver);
  remind("webhooks", failing.length);
  // The table has the first rows only.
  return [...failing, ...rows.filter((row) => !failsToDeliver(row))];
});

/** The webhooks, those that fail first. After a change of one, those of its vault are loaded again. */
export const webhooks: List<WebhookRow> = {
  ...webhookList,
  load: (changed) => {
    if (!changed) requested.clear();
    else if (requested.size > 0) requested.set(changed.vault, loadWebhooks(changed.vault));
    return webhookList.load();
  },
};

/** Requests the webhooks of all vaults that have any, unless these are more than `most`. */
async function requestAll(most = Infinity): Promise<void> {
  await adminVaults.load();
  if (adminVaults.error.value !== undefined) throw adminVaults.error.value;
  const vaults = adminVaults.rows.value?.filter((vault) => vault.webhooks !== undefined) ?? [];
  if (vaults.length <= most) for (const { id } of vaults) requested.set(id, loadWebhooks(id));
}

/** Counts the failing webhooks once for Home, where at most 20 vaults have any: each is a request. Does not throw. */
export async function countFailingWebhooks(): Promise<void> {
  if (webhooks.rows.peek()) return;
  await requestAll(20).catch(() => undefined);
  if (requested.size > 0) await webhookList.load();
}

/** A vault that was since deleted has none. */
async function loadWebhooks(vault: string): Promise<readonly WebhookRow[]> {
  try {
    const { data } = await call("GET /v1/admin/vaults/{vault}/webhooks", { path: { vault } });
    return data.map((webhook) => Object.assign(webhook, { vault }));
  } catch (error) {
    if (isErrorKind(error, "vault_not_found")) return [];
    throw error;
  }
}

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
