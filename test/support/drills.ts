import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { wrapDatabase } from "./bindings.ts";
import { emptyBucket } from "./empty-bucket.ts";
import { runJob, serviceWith } from "./jobs.ts";
import { emptyDatabase } from "./migrate.ts";
import { admin, type Client, client, makeToken, makeVault } from "./service.ts";

/** The steps that docs/operations.md tells an operator, as requests, and the view that clients have afterwards. */

/** A vault that clients use. */
export interface UsedVault {
  readonly vault: string;
  readonly items: string;
  readonly call: Client;
  readonly token: string;
  readonly tokenId: string;
  readonly create: (title: string, value?: string) => Promise<string>;
  readonly upload: (item: string, content: string) => Promise<string>;
  readonly destroy: (item: string) => Promise<void>;
}

/** Issues a token of the vault, and returns requests with the token. */
export async function useVault(vault: string): Promise<UsedVault> {
  const { id: tokenId, token } = await makeToken({ [vault]: "rwd" }, { name: "deploy" });
  const [items, call] = [`/v1/vaults/${vault}/items`, client(token)];
  const accepted = async (method: string, path: string, body?: unknown, headers = {}) => {
    const reply = await call(method, path, { body, headers });
    expect([method, path, reply.status < 300, reply.text]).toEqual([method, path, true, reply.text]);
    return reply.body;
  };
  return {
    vault,
    items,
    call,
    token,
    tokenId,
    create: async (title, value = title) =>
      (await accepted("POST", items, { title, category: "LOGIN", fields: [{ purpose: "PASSWORD", value }] })).id,
    upload: async (item, content) =>
      (await accepted("POST", `${items}/${item}/files?name=f`, content, { "Content-Length": String(content.length) })).id,
    destroy: async (item) => {
      await accepted("DELETE", `${items}/${item}`);
      await accepted("DELETE", `/v1/vaults/${vault}/deleted-items/${item}`);
    },
  };
}

/** Replaces the password of an Item, and so makes a version. */
export const changePassword = async ({ call, items }: UsedVault, item: string, value: string): Promise<void> => {
  const body = [{ op: "replace", path: "/fields/password/value", value }];
  expect((await call("PATCH", `${items}/${item}`, { body })).status).toBe(200);
};

/** Makes a vault with earlier versions, Files of them, an archived Item, a deleted Item, and an Item that was destroyed. */
export async function fillVault(name: string): Promise<UsedVault & { readonly kept: string; readonly destroyed: string }> {
  const used = await useVault(await makeVault(name));
  const { call, items } = used;
  const [kept, archived, deleted, destroyed] = [
    await used.create("Kept", "one"),
    await used.create("Archived"),
    await used.create("Deleted"),
    await used.create("Destroyed"),
  ];
  for (const item of [deleted, destroyed]) await used.upload(item, `content of ${item}`);
  const file = await used.upload(kept, "first content ".repeat(2_000));
  await call("PUT", `${items}/${kept}/files/${file}/content`, { body: "second", headers: { "Content-Length": "6" } });
  await changePassword(used, kept, "two");
  await call("POST", `${items}/${archived}/archive`);
  await call("DELETE", `${items}/${deleted}`);
  await used.destroy(destroyed);
  return { ...used, kept, destroyed };
}

/**
 * Returns all answers that a client gets of a vault, by path: its Items, their versions, the contents of Files in each version, deleted Items,
 * and the Items that are found by title.
 */
export async function viewOf({ vault, items, call }: UsedVault): Promise<Readonly<Record<string, unknown>>> {
  const view: Record<string, unknown> = {};
  const see = async (path: string): Promise<any> => {
    const { status, body, text, headers } = await call("GET", path);
    view[path] = [status, headers.get("ETag"), body ?? text];
    return body;
  };
  const seeFiles = async (item: any) => {
    for (const { content_path: content } of item.files ?? []) await see(content.replace(/^\/?/, "/"));
  };
  await see(`/v1/vaults/${vault}`);
  for (const { id, title } of await see(`${items}?archived=true`)) {
    await see(`${items}?filter=${encodeURIComponent(`title eq "${title}"`)}`);
    for (const { version } of await see(`${items}/${id}/versions`))
      await seeFiles(await see(`${items}/${id}/versions/${version}`));
    await seeFiles(await see(`${items}/${id}`));
  }
  const deleted = `/v1/vaults/${vault}/deleted-items`;
  for (const { id } of await see(deleted)) await seeFiles(await see(`${deleted}/${id}`));
  return view;
}

/** Returns `viewOf` of a vault. Each answer of it has to be a success. */
export async function wholeViewOf(used: UsedVault): Promise<Readonly<Record<string, unknown>>> {
  const view = await viewOf(used);
  expect(Object.entries(view).filter(([, answer]) => (answer as [number])[0] !== 200)).toEqual([]);
  return view;
}

/** Runs a job to its end, by the requests of `item-vault admin`. Returns the job. */
export const runStep = async (kind: string, body: object = {}, bindings: Partial<Env> = {}, ofOperator: Partial<Env> = {}) =>
  runJob(await serviceWith(bindings, ofOperator), { kind, ...body });

/** Runs a job that has to end well, without a finding. Returns its result. */
export async function mustRun(kind: string, body: object = {}, bindings: Partial<Env> = {}): Promise<any> {
  const job = await runStep(kind, body, bindings);
  expect(job).toMatchObject({ kind, state: "done", findings: [] });
  return job.result;
}

/** The numbers of the snapshots of a vault, the newest first. */
export const snapshotsOf = async (vault: string): Promise<number[]> =>
  (await admin("GET", `/v1/admin/backups/vaults/${vault}`)).body.map(({ number }: { number: number }) => number);

/** Begins with a deployment that was never used. */
export async function beginDeployment(): Promise<void> {
  await emptyDatabase();
  for (const bucket of [env.FILES, env.BACKUPS]) await emptyBucket(bucket);
}

/** Loses D1. The deployment that creates an empty one ends the coordinators. Their storage stays, except in another account. */
export async function loseDatabase(vaults: readonly string[], isOtherAccount = false): Promise<void> {
  await emptyDatabase();
  for (const vault of vaults) {
    const coordinator = env.COORDINATOR.getByName(vault);
    if (isOtherAccount) await runInDurableObject(coordinator, (_, { storage }) => storage.deleteAll());
    await evictDurableObject(coordinator).catch(() => undefined); // it may have been evicted already
  }
}

/** D1 and the bucket of backups, whose calls run `before`, and then `after`. A call fails with the error of either. */
export function hookedStorage(hooks: { before?: () => Promise<void> | void; after?: () => Promise<void> | void }): Partial<Env> {
  const { before, after } = hooks;
  const BACKUPS = new Proxy(env.BACKUPS, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...values: unknown[]) => {
        await before?.();
        const answer: unknown = await Reflect.apply(method, target, values);
        await after?.();
        return answer;
      };
    },
  });
  return { DB: wrapDatabase(env.DB, { ...(before && { before }), ...(after && { after }) }), BACKUPS };
}
