import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { setVariables } from "./bindings.ts";
import { bytesOf, freshItem, objectsOf } from "./files.ts";
import { fetchRaw } from "./service.ts";

/** Fault injection for Files: a real R2 with failing methods, a shifted clock, alarms, and checks of the state afterwards. */

export const HOUR = 60 * 60 * 1000;
export const DAY = 24 * HOUR;

export type Place = Awaited<ReturnType<typeof freshItem>>;

/** The contents that the rows of a vault reference, also those of earlier versions and of deleted Items: each once. */
export const CONTENTS = `
  SELECT item_id, id, generation, size FROM files WHERE vault_id = ?1
  UNION SELECT item_id, id, generation, size FROM file_versions WHERE vault_id = ?1`;

/** The bytes of the sealed texts that count towards the quota of a vault. */
export const SEALED_BYTES = `
  (SELECT total(length(overview) + length(details)) FROM items WHERE vault_id = ?1)
    + (SELECT total(length(overview) + length(details)) FROM item_versions WHERE vault_id = ?1)
    + (SELECT total(length(sealed)) FROM files WHERE vault_id = ?1)
    + (SELECT total(length(sealed)) FROM file_versions WHERE vault_id = ?1)`;

/** Sets the clock of the Worker and its coordinators forward. The test resets it with `vi.useRealTimers()`. */
export function advanceClock(milliseconds: number): void {
  const now = Date.now() + milliseconds;
  vi.useFakeTimers({ now, toFake: ["Date"] });
}

interface Row {
  readonly item_id: string;
  readonly id: string;
  readonly generation: string;
  readonly size: number;
}

export const rowsOf = async (vault: string): Promise<Row[]> => (await env.DB.prepare(CONTENTS).bind(vault).all<Row>()).results;

/** The key of the object that the row of a File names. */
export async function keyOf(vault: string, file: string): Promise<string> {
  const row = env.DB.prepare("SELECT generation FROM files WHERE vault_id = ? AND id = ?").bind(vault, file);
  return `${vault}/${file}/${await row.first<string>("generation")}`;
}

/** An Item with one File in a new vault: the place, the id of the File, and the R2 key of its content. */
export async function freshContent(
  bytes: Uint8Array,
  variables: Partial<Env> = {},
): Promise<{ at: Place; file: string; key: string }> {
  const at = await freshItem();
  await setVariables(at.vault, variables);
  const { id: file } = (await at.upload(bytes)).body as { id: string };
  return { at, file, key: await keyOf(at.vault, file) };
}

/** The pending contents that the coordinator of that name has recorded, the earliest due first. */
export const pendingRecordsOf = (name: string): Promise<{ key: string; due: number }[]> =>
  runInDurableObject(env.COORDINATOR.getByName(name), (_, { storage }) =>
    storage.sql.exec<{ key: string; due: number }>("SELECT key, due FROM watched ORDER BY due, key").toArray(),
  );

/** Records a content in the coordinator of a vault, as its upload did. Its first sweep is in a day. */
export const recordUpload = (vault: string, item: string, key: string): Promise<void> =>
  runInDurableObject(env.COORDINATOR.getByName(vault), async (_, { storage }) => {
    const due = Date.now() + DAY;
    storage.sql.exec("INSERT OR REPLACE INTO watched (key, item, due, next_sweep) VALUES (?1, ?2, ?3, ?3)", key, item, due);
    await storage.setAlarm(due);
  });

/** Runs the coordinator's alarm until no pending content is due, at most ten times. */
export async function runDueAlarms(name: string): Promise<void> {
  for (let rung = 0; rung < 10 && (await pendingRecordsOf(name)).some(({ due }) => due <= Date.now()); rung++) {
    expect(await runDurableObjectAlarm(env.COORDINATOR.getByName(name)), "an alarm is set").toBe(true);
  }
}

/** Checks that R2 has exactly one object for every content of a row, and that each current one has the size of its row. */
export async function expectNoOrphans({ vault, items, call, token }: Pick<Place, "vault" | "items" | "call" | "token">) {
  const headers = { Authorization: `Bearer ${token}` };
  const rows = await rowsOf(vault);
  const keys = rows.map(({ id, generation }) => `${vault}/${id}/${generation}`);
  expect((await objectsOf(vault)).toSorted()).toEqual(keys.toSorted());
  const current = await env.DB.prepare("SELECT item_id, id, size FROM files WHERE vault_id = ?").bind(vault).all<Row>();
  for (const { item_id, id, size } of current.results) {
    const { status, body } = await call("GET", `${items}/${item_id}/files/${id}`);
    expect([status, body.size]).toEqual([200, size]);
    const bytes = await bytesOf(await fetchRaw("GET", `${items}/${item_id}/files/${id}/content`, { headers }));
    expect(bytes.length).toBe(size);
  }
}

/** A body that is sent in pieces of `step` bytes. With an error the stream fails at its end. */
export function byteStream(bytes: Uint8Array, error?: Error, step = 64 * 1024): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller: ReadableByteStreamController) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, (at += step)));
      else if (error) controller.error(error);
      else {
        controller.close();
        controller.byobRequest?.respond(0);
      }
    },
  });
}
