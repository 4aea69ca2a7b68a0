import { env } from "cloudflare:workers";
import { objectsOf, pattern } from "../../support/files.ts";
import { admin, client, LOGIN, makeToken, makeVault } from "../../support/service.ts";
import { newReceiver } from "../../support/webhooks.ts";

/** A vault with everything that `verify` looks at. */

export interface Planted {
  readonly vault: string;
  readonly call: ReturnType<typeof client>;
  readonly items: string;
  /** The id of the token. */
  readonly token: string;
  /** Has three versions, and Files in several of them. */
  readonly item: string;
  /** Another Item, with one version. */
  readonly other: string;
  readonly deleted: string;
  readonly file: string;
  /** Another File of the Item, whose content was replaced: it has a row of an earlier version. */
  readonly replaced: string;
  /** The key of the content of the File, with two chunks. */
  readonly object: string;
  /** The key of the content of the File of the deleted Item. */
  readonly deletedObject: string;
  readonly webhook: string;
  /** The ids of an idempotency record and of an entry of the log. */
  readonly record: string;
  readonly entry: string;
}

export async function plantVault(): Promise<Planted> {
  const vault = await makeVault();
  const { id: token, token: text } = await makeToken({ [vault]: "rwd" });
  const call = client(text);
  const items = `/v1/vaults/${vault}/items`;
  const create = async (title: string) =>
    (
      await call("POST", items, {
        body: { ...LOGIN, title, fields: [{ id: "username", purpose: "USERNAME", value: "robots" }] },
        headers: { "Idempotency-Key": title },
      })
    ).body.id as string;
  const [item, other, deleted] = [await create("First"), await create("Second"), await create("Third")];
  const path = `${items}/${item}`;
  const upload = (id: string, bytes: Uint8Array) =>
    call("POST", `${items}/${id}/files?name=f`, { body: bytes, headers: { "Content-Length": String(bytes.length) } });
  const { id: file } = (await upload(item, pattern(20_000))).body;
  const object = (await objectsOf(vault))[0]!;
  const { id: replaced } = (await upload(item, pattern(10))).body;
  await call("PUT", `${path}/files/${replaced}/content`, { body: pattern(30), headers: { "Content-Length": "30" } });
  await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Renamed" }] });
  const before = new Set(await objectsOf(vault));
  await upload(deleted, pattern(100));
  const deletedObject = (await objectsOf(vault)).find((key) => !before.has(key))!;
  await call("DELETE", `${items}/${deleted}`);
  await call("GET", path);
  const { id: webhook } = (await admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: newReceiver().url } })).body;
  const idOf = (sql: string) => env.DB.prepare(sql).bind(vault).first<string>("id");
  const record = (await idOf("SELECT id FROM replays WHERE vault_id = ? LIMIT 1"))!;
  const entry = (await idOf("SELECT id FROM activity WHERE vault_id = ? AND sequence = 3"))!;
  return { vault, call, items, token, item, other, deleted, file, replaced, object, deletedObject, webhook, record, entry };
}

/** Flips a bit of an object. */
export async function flipObject(bucket: R2Bucket, key: string, at: number): Promise<void> {
  const bytes = new Uint8Array(await (await bucket.get(key))!.arrayBuffer());
  bytes[at]! ^= 1;
  await bucket.put(key, bytes);
}

/** SQL: a sealed text with another character in the middle, which is base64 still. */
export const flipped = (column: string) =>
  `substr(${column}, 1, 40) || CASE substr(${column}, 41, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(${column}, 42)`;
