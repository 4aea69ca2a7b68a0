import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { firstIdAt } from "../../src/model/ids.ts";
import { openText } from "../../src/crypto/vault-seal.ts";
import { deleteOldRecords, sealRecord } from "../../src/store/commit/idempotency.ts";
import { countingDatabase, renewCoordinator } from "../support/bindings.ts";
import { keysOf, recordRows, unwrap } from "../support/records.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** What an idempotency record holds, and what it costs (docs/design/writes.md). */

const KEY = { "Idempotency-Key": "key" };

/** A vault with a keyed POST of an Item, which `post` repeats. */
async function keyedPost(fields: readonly unknown[] = []) {
  const { vault, items, call } = await freshVault();
  const post = () => call("POST", items, { body: { ...LOGIN, fields }, headers: KEY });
  return { vault, items, call, post, first: await post() };
}

/** The plaintext of the only idempotency record of a vault. */
async function plaintextOf(vault: string): Promise<string> {
  const { newest: key } = await keysOf(vault);
  const { id, sealed } = (await recordRows(vault))[0]!;
  return unwrap(await openText({ all: [key] }, { kind: "idempotencyRecord", vault, record: id, version: 0 }, sealed));
}

describe("an idempotency record", () => {
  it("has at most 1 KiB as stored, with its entry in the index, whatever was written", async () => {
    const [vault, item, file, id] = Array.from({ length: 4 }, () => crypto.randomUUID()) as [string, string, string, string];
    const { vault: place } = await freshVault();
    const hash = new Uint8Array(16).fill(255).toBase64();
    const effect = { kind: "replace-content", item, version: Number.MAX_SAFE_INTEGER, nonce: "f".repeat(16), file } as const;
    const sealed = await sealRecord(await keysOf(place), vault, { id, key: hash, request: hash, effect });
    const row = vault.length + hash.length + id.length + sealed.length;
    const entry = id.length + vault.length + hash.length;
    console.log(`an idempotency record: ${row} bytes, and ${entry} in the index`);
    expect(row + entry).toBeLessThanOrEqual(1024);
  });

  it("holds nothing of the Item but its id, its version and the nonce of that", async () => {
    const { vault, first } = await keyedPost([{ id: "f", value: "canary-in-a-field" }]);
    const { key, request, ...others } = JSON.parse(await plaintextOf(vault)) as Record<string, unknown>;
    expect([key, request]).toEqual([expect.any(String), expect.any(String)]);
    const nonce = first.headers.get("ETag")!.slice(3, -1);
    expect(others).toEqual({ effect: { kind: "create-item", item: first.body.id, version: 1, nonce } });
  });

  it("answers a POST whose Item no cache holds: the repetition names another Item id", async () => {
    const { vault, items, call, post, first } = await keyedPost();
    const { count, db } = countingDatabase();
    await renewCoordinator(vault, { DB: db });
    expect(await post()).toMatchObject({ status: 200, text: first.text });
    expect(count).toMatchObject({ calls: 2, rowsWritten: 0 });
    expect((await call("GET", items)).body).toHaveLength(1);
  });
});

/** Inserts records with these ids, which are also their keys. */
const insert = (vault: string, ids: readonly string[]) =>
  env.DB.prepare("INSERT INTO replays SELECT ?1, value, value, '' FROM json_each(?2)").bind(vault, JSON.stringify(ids)).run();

/** Different ids that are so many hours old. */
function idsOf(count: number, hours: number): string[] {
  const newest = Date.now() - hours * 3_600_000;
  return Array.from({ length: count }, (_, n) => firstIdAt(newest - n));
}

describe("the expiry of idempotency records", () => {
  it("reads the records that it deletes, and not the others", async () => {
    const { vault } = await freshVault();
    await insert(vault, idsOf(3_000, 1));
    await insert(vault, idsOf(20, 25));
    const { count, db } = countingDatabase();
    await deleteOldRecords(db, Date.now(), () => true);
    console.log(`20 of 3,020 records deleted: ${count.rowsRead} rows read, ${count.rowsWritten} written`);
    expect(await recordRows(vault)).toHaveLength(3_000);
    expect(count.rowsRead).toBeLessThanOrEqual(6 * 20);
  });
});
