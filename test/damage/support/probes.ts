import { backUp } from "../../support/backup.ts";
import { UNLIMITED } from "../../support/bindings.ts";
import { signIn } from "../../support/console.ts";
import { restore } from "../../support/restores.ts";
import { admin, type Client, type Reply, type Request_ } from "../../support/service.ts";
import type { Planted } from "../../verify/support/vault.ts";
import type { World } from "./world.ts";

/** What a deployment is asked before and after a row is damaged. */

const bindings: Partial<Env> = { TOKEN_RATE: UNLIMITED, FAILURE_RATE: UNLIMITED };

export interface Answer {
  readonly status: number;
  readonly kind: string | null;
  /** The entries of a list by their ids, or one entry. */
  readonly entries: ReadonlyMap<string, string>;
}

export interface Probe {
  readonly name: string;
  /** The ids of the path: the answer may change when one of them is damaged. */
  readonly about: readonly string[];
  readonly ask: () => Promise<Answer>;
}

/** Of these also a delivery to a webhook changes some. */
const VOLATILE = new Set([
  "lastDelivery",
  "lastError",
  "failures",
  "pending",
  "state",
  "message",
  "totp",
  "requestId",
  "used",
  "lastBackup",
]);

const keyOf = (entry: any): string =>
  String(
    entry?.id ??
      entry?.requestId ??
      entry?.cursor ??
      entry?.version ??
      entry?.reference ??
      entry?.service ??
      JSON.stringify(entry),
  );

const textOf = (entry: unknown) => JSON.stringify(entry, (name, value: unknown) => (VOLATILE.has(name) ? undefined : value));

export function answerOf({ status, headers, body, text }: Reply): Answer {
  const list: unknown = Array.isArray(body) ? body : (body?.values ?? body?.events ?? body?.dependencies ?? body?.keys);
  const entries = Array.isArray(list)
    ? list.map((entry: any) => [keyOf(entry?.timestamp ? { id: entry.requestId } : entry), textOf(entry)] as const)
    : [["", body === undefined ? text : textOf(body)] as const];
  return { status, kind: headers.get("Item-Vault-Error"), entries: new Map(entries) };
}

const bound =
  (call: Client) =>
  (method: string, path: string, options: Request_ = {}) =>
    call(method, path, { ...options, env: bindings });

export function listProbes(world: World): Probe[] {
  const [uuid, connect, asAdmin] = [bound(world.uuid), bound(world.connect), bound(admin)];
  const c = world.renewed.vault;
  const reader = world.readers[0]!;
  const get = (call: typeof uuid, name: string, path: string, about: readonly string[] = []): Probe => ({
    name,
    about,
    ask: async () => answerOf(await call("GET", path)),
  });
  const ofVault = (planted: Planted, place: number): Probe[] => {
    const { vault, items, item, other, deleted, file } = planted;
    const label = "AB"[place]!;
    const filtered = (filter: string) => `${items}?filter=${encodeURIComponent(filter)}`;
    return [
      get(uuid, `vault ${label}`, `/v1/vaults/${vault}`, [vault]),
      get(uuid, `items ${label}`, items, [vault]),
      get(connect, `items ${label} of the dialect connect`, items, [vault]),
      get(uuid, `items ${label} by a part of the title`, filtered('title co "e"'), [vault]),
      get(uuid, `items ${label} by title`, filtered('title eq "Second"'), [vault, other]),
      get(uuid, `items ${label} by another title`, filtered('title eq "Renamed"'), [vault, item]),
      get(uuid, `item ${label}`, `${items}/${item}`, [vault, item]),
      get(uuid, `other item ${label}`, `${items}/${other}`, [vault, other]),
      get(uuid, `versions ${label}`, `${items}/${item}/versions`, [vault, item]),
      get(uuid, `version ${label}`, `${items}/${item}/versions/1`, [vault, item]),
      get(uuid, `deleted items ${label}`, `/v1/vaults/${vault}/deleted-items`, [vault]),
      get(uuid, `deleted item ${label}`, `/v1/vaults/${vault}/deleted-items/${deleted}`, [vault, deleted]),
      get(uuid, `files ${label}`, `${items}/${item}/files`, [vault, item]),
      get(uuid, `file ${label}`, `${items}/${item}/files/${file}`, [vault, item, file]),
      get(uuid, `events ${label}`, `/v1/vaults/${vault}/events?after=0&limit=1000`, [vault]),
      get(asAdmin, `webhooks ${label}`, `/v1/admin/vaults/${vault}/webhooks`, [vault]),
      get(asAdmin, `backups ${label}`, `/v1/admin/backups/vaults/${vault}`),
      {
        name: `references ${label}`,
        about: [vault],
        ask: async () =>
          answerOf(
            await uuid("POST", "/v1/resolve", {
              body: { references: [`op://${vault}/${item}/username`, `op://${vault}/${other}/username`] },
            }),
          ),
      },
      {
        name: `reference by title ${label}`,
        about: [vault, other],
        ask: async () => answerOf(await uuid("POST", "/v1/resolve", { body: { references: [`op://${vault}/Second/username`] } })),
      },
      {
        name: `restore of ${label}, as a dry run`,
        about: [],
        ask: async () => {
          const reply = await restore({ vault, dryRun: true, overwrite: true });
          return answerOf({ ...reply, body: { vault, ...reply.body } });
        },
      },
    ];
  };
  return [
    ...world.vaults.flatMap(ofVault),
    get(uuid, "vaults", "/v1/vaults"),
    get(uuid, "vault C", `/v1/vaults/${c}`, [c]),
    get(uuid, "items C", `/v1/vaults/${c}/items`, [c]),
    get(uuid, "item C", `/v1/vaults/${c}/items/${world.renewed.item}`, [c, world.renewed.item]),
    get(uuid, "token", "/v1/token"),
    get(uuid, "activity", "/v1/activity?limit=1000"),
    get(asAdmin, "activity of a token", `/v1/admin/tokens/${reader}/activity?limit=1000`, [reader]),
    get(asAdmin, "admin activity", "/v1/admin/activity?limit=1000"),
    get(asAdmin, "admin vaults", "/v1/admin/vaults"),
    get(asAdmin, "admin tokens", "/v1/admin/tokens"),
    get(asAdmin, "issuers", "/v1/admin/issuers"),
    get(asAdmin, "rules", "/v1/admin/rules"),
    get(asAdmin, "people", "/v1/admin/people"),
    get(asAdmin, "keys", "/v1/admin/keys"),
    get(asAdmin, "registry backups", "/v1/admin/backups"),
  ];
}

/** A write to an Item. Out: the kind of the failure, if it failed. */
export async function write(world: World, { items }: Planted, item: string): Promise<string | null> {
  const body = [{ op: "replace", path: "/favorite", value: true }];
  const { status, headers, text } = await world.uuid("PATCH", `${items}/${item}`, { body, env: bindings });
  return status === 200 ? null : (headers.get("Item-Vault-Error") ?? text);
}

/** Signs in with a token. Throws when that fails. */
export const signInAgain = (world: World): Promise<string> => signIn({ token: world.text }, undefined, { env: bindings });

/** A backup of a vault. Out: the failure, if it failed. */
export async function backUpAgain(vault: string): Promise<string | null> {
  try {
    const { state } = await backUp(vault);
    return state === "done" || state === "unchanged" ? null : `the backup is ${state}`;
  } catch (error) {
    return String(error);
  }
}
