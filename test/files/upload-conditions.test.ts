import { describe, expect, it } from "vitest";
import { currentTag, otherTag } from "../support/etags.ts";
import { freshFile, stateOf } from "../support/files.ts";

/** `If-Match` on the writes to Files names the entity tag of the Item (contract 10.2, 10.3). */

const WRITES = ["POST", "PUT", "DELETE"] as const;

describe("If-Match", () => {
  it.each(WRITES)("that contains the Item's tag allows the write: %s", async (method) => {
    for (const header of ["<tag>", "W/<tag>", "*", `${otherTag(1)}, <tag>`]) {
      const { writes, call, path } = await freshFile();
      const tag = header.replace("<tag>", await currentTag(call, path));
      expect([200, 204]).toContain((await writes[method]({ "If-Match": tag })).status);
      expect((await call("GET", path)).body.version).toBe(3);
    }
  });

  it.each(WRITES)("that does not contain the Item's tag is answered 412, and nothing is stored: %s", async (method) => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    for (const tag of [otherTag(2), '"2"', `W/${otherTag(2)}`, '""']) {
      const { status, body } = await fixture.writes[method]({ "If-Match": tag });
      expect([status, body]).toEqual([412, { status: 412, message: "If-Match names another version than the current one" }]);
    }
    expect(await stateOf(fixture)).toEqual(before);
  });

  it.each(WRITES)("that is not a list of entity tags is answered 400, and nothing is stored: %s", async (method) => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    for (const tag of ["2", "nonsense", ""]) expect((await fixture.writes[method]({ "If-Match": tag })).status).toBe(400);
    expect(await stateOf(fixture)).toEqual(before);
  });

  it("allows one of five concurrent uploads; the others store nothing", async () => {
    const fixture = await freshFile();
    const tag = await currentTag(fixture.call, fixture.path);
    const replies = await Promise.all(Array.from({ length: 5 }, () => fixture.writes.POST({ "If-Match": tag })));
    expect(replies.filter(({ status }) => status === 200).length).toBe(1);
    expect(replies.filter(({ status }) => status === 412).length).toBe(4);
    const { rows, objects } = await stateOf(fixture);
    expect([rows.length, objects.length]).toEqual([2, 2]);
  });
});
