import { describe, expect, it } from "vitest";
import { freshFile, stateOf } from "../support/files.ts";

/** `If-Match` on the writes to Files: it names the version of the Item (contract 1.4, 2.2). */

const WRITES = ["POST", "PUT", "DELETE"] as const;

describe("If-Match", () => {
  it.each(WRITES)("that names the Item's version lets the write through: %s", async (method) => {
    for (const tag of ['"2"', "*", '"1", "2"']) {
      const { writes, call, path } = await freshFile();
      expect([200, 204]).toContain((await writes[method]({ "If-Match": tag })).status);
      expect((await call("GET", path)).body.version).toBe(3);
    }
  });

  it.each(WRITES)("takes the ETag that GET of the Item answered: %s", async (method) => {
    const { writes, call, path } = await freshFile();
    const tag = (await call("GET", path)).headers.get("ETag")!;
    expect([200, 204]).toContain((await writes[method]({ "If-Match": tag })).status);
  });

  it.each(WRITES)("that names another version is a 412, and nothing is left: %s", async (method) => {
    const world = await freshFile();
    const before = await stateOf(world);
    for (const tag of ['"1"', '"3"', 'W/"2"', '""']) {
      const { status, body } = await world.writes[method]({ "If-Match": tag });
      expect([status, body]).toEqual([412, { status: 412, message: "If-Match names another version than the current one" }]);
    }
    expect(await stateOf(world)).toEqual(before);
  });

  it.each(WRITES)("that is no list of tags is a 400, and nothing is left: %s", async (method) => {
    const world = await freshFile();
    const before = await stateOf(world);
    for (const tag of ["2", "nonsense", ""]) expect((await world.writes[method]({ "If-Match": tag })).status).toBe(400);
    expect(await stateOf(world)).toEqual(before);
  });

  it("lets one of five uploads at once through, and of the others nothing is left", async () => {
    const world = await freshFile();
    const replies = await Promise.all(Array.from({ length: 5 }, () => world.writes.POST({ "If-Match": '"2"' })));
    expect(replies.filter(({ status }) => status === 200).length).toBe(1);
    expect(replies.filter(({ status }) => status === 412).length).toBe(4);
    const { rows, objects } = await stateOf(world);
    expect([rows.length, objects.length]).toEqual([2, 2]);
  });
});
