import { env } from "cloudflare:workers";
import { type Hooks, rebindCoordinator, seeded, sleep, wrapDatabase } from "./bindings.ts";
import { type Client, freshVault, LOGIN, type Reply } from "./service.ts";

/** A load of many clients that add fields to one Item: the answers that they got, and the final state. */

export interface PatchLoad {
  readonly clients: number;
  /** The number of PATCHes of each client. */
  readonly each: number;
  /** The number of Durable Objects that act as coordinator of the vault. */
  readonly coordinators?: number;
  /** Hooks for the D1 calls of the coordinators, in addition to random delays of a few milliseconds. */
  readonly hooks?: (random: () => number) => Hooks;
  /** Whether the clients send an Idempotency-Key and retry after a 503. Otherwise each request is sent once. */
  readonly keyed?: boolean;
  readonly seed?: number;
}

export interface Outcome {
  readonly acknowledged: readonly Reply[];
  readonly refused: readonly Reply[];
  /** The ids of the fields whose PATCH was acknowledged. */
  readonly promised: readonly string[];
  /** The Item afterwards. */
  readonly item: { readonly version: number; readonly fields: readonly { readonly id: string }[] };
  /** The number of rows of the activity log for the Item, including its creation. */
  readonly logged: number;
}

export async function runConcurrentPatches({
  clients,
  each,
  coordinators = 1,
  hooks,
  keyed = true,
  seed = 1,
}: PatchLoad): Promise<Outcome> {
  const { vault, items, call } = await freshVault();
  const { body: created } = await call("POST", items, { body: LOGIN });
  const random = seeded(seed);
  const names = Array.from({ length: coordinators }, (_, index) => (index === 0 ? vault : `${vault} again ${index}`));
  for (const name of names) await rebindCoordinator(name, { DB: delayedDatabase(random, hooks?.(random) ?? {}) });
  const bindings = { COORDINATOR: alternatingCoordinators(names) };
  const patch = async (id: string): Promise<[string, Reply]> => {
    const body = [{ op: "add", path: `/fields/${id}`, value: { value: id } }];
    const path = `${items}/${created.id}`;
    return [id, await (keyed ? retried(call, path, body, id, bindings) : call("PATCH", path, { body, env: bindings }))];
  };
  const work = Array.from({ length: clients }, async (_, client) => {
    const replies: [string, Reply][] = [];
    for (let n = 0; n < each; n++) replies.push(await patch(`c${client}n${n}`));
    return replies;
  });
  const replies = (await Promise.all(work)).flat();
  const { body: item } = await call("GET", `${items}/${created.id}`);
  const log = await env.DB.prepare("SELECT count(*) AS n FROM activity WHERE vault_id = ? AND item_id = ?")
    .bind(vault, created.id)
    .first<number>("n");
  return {
    acknowledged: replies.filter(([, reply]) => reply.status === 200).map(([, reply]) => reply),
    refused: replies.filter(([, reply]) => reply.status !== 200).map(([, reply]) => reply),
    promised: replies.filter(([, reply]) => reply.status === 200).map(([id]) => id),
    item,
    logged: log ?? 0,
  };
}

/** Retries a PATCH after a 503, which the Idempotency-Key makes safe (contract 10.15). */
async function retried(call: Client, path: string, body: unknown, key: string, bindings: Partial<Env>): Promise<Reply> {
  for (let attempt = 0; ; attempt++) {
    const reply = await call("PATCH", path, { body, headers: { "Idempotency-Key": key }, env: bindings });
    if (reply.status !== 503 || attempt === 5) return reply;
    await sleep(5);
  }
}

/**
 * D1 with random delays before and after each call. Without them the simulator often finishes a request before it starts the
 * next one, which hides races.
 */
export function delayedDatabase(random: () => number, { before, after, rewrite }: Hooks): D1Database {
  return wrapDatabase(env.DB, {
    rewrite,
    before: async (statements) => {
      await sleep(random() * 4);
      await before?.(statements);
    },
    after: async (results) => {
      await sleep(random() * 4);
      await after?.(results);
    },
  });
}

/** A namespace in which every name leads to several objects in turn. */
export function alternatingCoordinators(names: readonly string[]): Env["COORDINATOR"] {
  let turn = 0;
  const getByName = () => env.COORDINATOR.getByName(names[turn++ % names.length]!);
  return { getByName } as unknown as Env["COORDINATOR"];
}
