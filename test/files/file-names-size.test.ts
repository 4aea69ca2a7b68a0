import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { freshItem, pattern, stateOf } from "../support/files.ts";
import { seedFiles, type SeededFile } from "../support/seed-files.ts";
import { LOGIN } from "../support/service.ts";

/** The names and sections of Files count towards the size of their Item (contract 12.1). */

const KIB_512 = 512 * 1024;
/** 1,024 bytes of UTF-8, and six times as many of JSON: the longest name as it is stored. */
const LONGEST = "%01".repeat(1024);
const TOO_LARGE = { status: 400, message: `the Item is larger than ${KIB_512} bytes sealed` };

const copies = (count: number, file: SeededFile) => Array.from({ length: count }, () => file);

/** An Item with Files that fill about `share` of its size with their names. */
async function filledItem(share: number) {
  const world = await freshItem();
  const stored = Math.floor((KIB_512 * share) / (6 * 1024 * (4 / 3)));
  const ids = await seedFiles(env, world.vault, world.item, copies(stored, { name: "\u0001".repeat(1024) }));
  return { ...world, ids };
}

const fieldsOf = (bytes: number) =>
  Array.from({ length: Math.ceil(bytes / 60_000) }, (_, n) => ({ id: `f${n}`, value: "x".repeat(60_000) }));

describe("Files with the longest names", () => {
  it("are refused once the Item would be larger than 512 KiB, and nothing of the upload is left", async () => {
    const world = await filledItem(0.9);
    let before = await stateOf(world);
    let last = await world.upload(new Uint8Array(), `?name=${LONGEST}`);
    expect(last.status).toBe(200);
    for (let n = 0; n < 20 && last.status === 200; n++) {
      before = await stateOf(world);
      last = await world.upload(new Uint8Array(), `?name=${LONGEST}`);
    }
    expect(last.body).toEqual(TOO_LARGE);
    expect(await stateOf(world)).toEqual(before);
  });

  it("cost a PATCH beside them at most 640 KiB to read, by a coordinator that knows nothing yet", async () => {
    const world = await filledItem(0.9);
    for (let n = 0; n < 220; n++) if ((await world.upload(new Uint8Array(), `?name=${LONGEST}`)).status !== 200) break;
    let bytes = 0;
    const count = (results: D1Result[]) => (bytes += JSON.stringify(results.map((result) => result.results)).length);
    await renewCoordinator(world.vault, { DB: wrapDatabase(env.DB, { after: (results) => void count(results) }) });
    const { status } = await world.call("PATCH", world.path, { body: [{ op: "replace", path: "/title", value: "T" }] });
    expect(status).toBe(200);
    expect(bytes).toBeLessThan(640 * 1024);
  });

  it.each(["PUT", "PATCH"])("are counted by a %s of the Item", async (method) => {
    const fields = fieldsOf(240_000);
    const write = async (share: number) => {
      const { call, path, vault } = await filledItem(share);
      const replace = [{ op: "replace", path: "/fields", value: fields }];
      const body = method === "PUT" ? { ...LOGIN, vault: { id: vault }, fields } : replace;
      const before = (await call("GET", path)).body;
      return { before, reply: await call(method, path, { body }), after: (await call("GET", path)).body };
    };
    expect((await write(0.3)).reply.status).toBe(200);
    const { before, reply, after } = await write(0.6);
    expect(reply.body).toEqual(TOO_LARGE);
    expect(after).toEqual(before);
  });
});

describe("Files with ordinary names", () => {
  it("may be 1,000, each with a name of 200 bytes in a section", async () => {
    const { vault, item, upload } = await freshItem();
    await seedFiles(env, vault, item, copies(999, { name: "n".repeat(200), section: "s".repeat(26) }));
    expect((await upload(pattern(1), `?name=${"n".repeat(200)}`)).status).toBe(200);
    const { body } = await upload(pattern(1));
    expect(body).toEqual({ status: 400, message: "files: has more than 1000 entries" });
  });
});
