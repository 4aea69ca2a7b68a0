import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { bytesOf, type freshItem, objectsOf } from "./files.ts";
import { fetchRaw } from "./service.ts";

/** What goes wrong around Files: a real R2 that is told to fail, a clock that moves, alarms that ring, and what must hold then. */

export const HOUR = 60 * 60 * 1000;
export const DAY = 24 * HOUR;

export type Place = Awaited<ReturnType<typeof freshItem>>;

/** The real R2, with some of its methods told to do otherwise. */
export const wrapBucket = (methods: { readonly [K in keyof R2Bucket]?: unknown }): R2Bucket =>
  new Proxy(env.FILES, {
    get(target, name: keyof R2Bucket) {
      const value: unknown = methods[name] ?? target[name];
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });

/** Moves the clock that the Worker and its coordinators share. The test puts it back with `vi.useRealTimers()`. */
export function later(milliseconds: number): void {
  const now = Date.now() + milliseconds;
  vi.useFakeTimers({ now, toFake: ["Date"] });
}

interface Row {
  readonly item_id: string;
  readonly id: string;
  readonly generation: string;
  readonly size: number;
}

export const rowsOf = async (vault: string): Promise<Row[]> =>
  (await env.DB.prepare("SELECT item_id, id, generation, size FROM files WHERE vault_id = ?").bind(vault).all<Row>()).results;

/** The key of the object that the row of a File names. */
export async function keyOf(vault: string, file: string): Promise<string> {
  const row = (await rowsOf(vault)).find(({ id }) => id === file)!;
  return `${vault}/${row.id}/${row.generation}`;
}

/** What the coordinator of that name has on its watch list, the earliest first. */
export const watchedBy = (name: string): Promise<{ key: string; due: number }[]> =>
  runInDurableObject(env.COORDINATOR.getByName(name), (_, { storage }) =>
    storage.sql.exec<{ key: string; due: number }>("SELECT key, due FROM watched ORDER BY due, key").toArray(),
  );

/** Rings the coordinator's alarm as long as anything is due. */
export async function ring(name: string): Promise<void> {
  for (let rung = 0; rung < 10 && (await watchedBy(name)).some(({ due }) => due <= Date.now()); rung++) {
    expect(await runDurableObjectAlarm(env.COORDINATOR.getByName(name)), "an alarm is set").toBe(true);
  }
}

/** R2 holds an object for every row, and no other; each File downloads as long as its row says. */
export async function expectNoOrphans({ vault, items, call, token }: Pick<Place, "vault" | "items" | "call" | "token">) {
  const headers = { Authorization: `Bearer ${token}` };
  const rows = await rowsOf(vault);
  const keys = rows.map(({ id, generation }) => `${vault}/${id}/${generation}`);
  expect((await objectsOf(vault)).toSorted()).toEqual(keys.toSorted());
  for (const { item_id, id, size } of rows) {
    const { status, body } = await call("GET", `${items}/${item_id}/files/${id}`);
    expect([status, body.size]).toEqual([200, size]);
    const bytes = await bytesOf(await fetchRaw("GET", `${items}/${item_id}/files/${id}/content`, { headers }));
    expect(bytes.length).toBe(size);
  }
}

/** A body that comes in pieces of `step` bytes; at its end it breaks off when an error is given. */
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
