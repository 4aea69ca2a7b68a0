import { describe, expect, it } from "vitest";
import { KEEP_NOTHING, setVariables } from "../support/bindings.ts";
import { bytesOf, freshFile, pattern, stateOf, threePieces } from "../support/files.ts";
import type { Reply } from "../support/service.ts";

/**
 * Writes to Files that a client repeats with an Idempotency-Key (contract 10.9, 10.10, 10.12, 10.18). test/proof/ has those that the Worker
 * repeats, because a coordinator was reset.
 */

const WRITES = ["POST", "PUT", "DELETE"] as const;
const UPLOADS = ["POST", "PUT"] as const;
const KEY = { "Idempotency-Key": "key" };
const statusAndText = ({ status, text }: Reply) => [status, text];

describe("a repeated request with the same Idempotency-Key", () => {
  it.each(WRITES)("gets the first answer, and has no second effect or object: %s", async (method) => {
    const fixture = await freshFile();
    const first = await fixture.writes[method](KEY);
    const after = await stateOf(fixture);
    expect([200, 204]).toContain(first.status);
    for (const _ of [1, 2]) expect(statusAndText(await fixture.writes[method](KEY))).toEqual(statusAndText(first));
    expect(await stateOf(fixture)).toEqual(after);
  });

  it.each(UPLOADS)("that is sent five times concurrently is one write and stores one object: %s", async (method) => {
    const fixture = await freshFile();
    const replies = await Promise.all(Array.from({ length: 5 }, () => fixture.writes[method](KEY)));
    expect(new Set(replies.map((reply) => JSON.stringify(statusAndText(reply)))).size).toBe(1);
    const { item, objects } = await stateOf(fixture);
    expect([item.version, objects.length]).toEqual([3, 2]);
    expect((await bytesOf(await fixture.download(replies[0]!.body.id))).length).toBe(replies[0]!.body.size);
  });

  it.each<[(typeof UPLOADS)[number], string, Partial<Env>, (first: Reply) => unknown[]]>(
    UPLOADS.flatMap((method) => [
      [method, "gets the first answer", {}, ({ text }) => [200, text, null]],
      [method, "is a 409 when no version is kept", KEEP_NOTHING, () => [409, expect.any(String), "overtaken"]],
    ]),
  )("after a later write to the Item, %s %s, and stores no object", async (method, _, variables, expected) => {
    const fixture = await freshFile();
    await setVariables(fixture.vault, variables);
    const first = await fixture.writes[method](KEY, pattern(5));
    await fixture.writes.PUT({}, pattern(6));
    const after = await stateOf(fixture);
    const reply = await fixture.writes[method](KEY, pattern(5));
    expect([...statusAndText(reply), reply.headers.get("Item-Vault-Error")]).toEqual(expected(first));
    expect(await stateOf(fixture)).toEqual(after);
    expect(await bytesOf(await fixture.download(fixture.file.id))).toEqual(pattern(6));
  });

  it("is answered 204 after a later write to the Item: DELETE", async () => {
    const fixture = await freshFile();
    await fixture.writes.DELETE(KEY);
    await fixture.writes.POST({}, pattern(6));
    const after = await stateOf(fixture);
    expect((await fixture.writes.DELETE(KEY)).status).toBe(204);
    expect(await stateOf(fixture)).toEqual(after);
  });

  it("may lack the Content-Length of the first request", async () => {
    const fixture = await freshFile();
    const first = await fixture.writes.POST(KEY, pattern(9));
    const again = await fixture.call("POST", `${fixture.files}?name=g`, { headers: KEY, body: new Blob([pattern(9)]).stream() });
    expect(statusAndText(again)).toEqual(statusAndText(first));
  });
});

type Fixture = Awaited<ReturnType<typeof freshFile>>;

/** Sends a write to another File of the Item. */
const toOther = async ({ upload, call, files }: Fixture, method: "PUT" | "DELETE") => {
  const path = `${files}/${(await upload(pattern(8), "?name=other")).body.id}`;
  return () =>
    method === "PUT"
      ? call("PUT", `${path}/content`, { headers: KEY, body: pattern(5) })
      : call("DELETE", path, { headers: KEY });
};

describe("another request with the same Idempotency-Key is answered 409 and stores nothing", () => {
  it.each<[string, (typeof UPLOADS)[number], (fixture: Fixture) => Promise<() => Promise<Reply>>]>([
    [
      "its bytes differ",
      "POST",
      async ({ writes }) =>
        () =>
          writes.POST(KEY, pattern(6)),
    ],
    [
      "its bytes differ",
      "PUT",
      async ({ writes }) =>
        () =>
          writes.PUT(KEY, pattern(6)),
    ],
    [
      "its name differs",
      "POST",
      async ({ upload }) =>
        () =>
          upload(pattern(5), "?name=h", { headers: KEY }),
    ],
    [
      "its section differs",
      "POST",
      async ({ upload }) =>
        () =>
          upload(pattern(5), "?name=g&section=s", { headers: KEY }),
    ],
    [
      "it uploads",
      "PUT",
      async ({ writes }) =>
        () =>
          writes.POST(KEY, pattern(5)),
    ],
    [
      "it deletes",
      "PUT",
      async ({ writes }) =>
        () =>
          writes.DELETE(KEY),
    ],
    ["it replaces another File", "PUT", (fixture) => toOther(fixture, "PUT")],
    ["it deletes another File", "PUT", (fixture) => toOther(fixture, "DELETE")],
  ])("when %s than a %s", async (_, method, prepare) => {
    const fixture = await freshFile();
    const send = await prepare(fixture);
    await fixture.writes[method](KEY, pattern(5));
    const after = await stateOf(fixture);
    expect((await send()).status).toBe(409);
    expect(await stateOf(fixture)).toEqual(after);
  });

  it("when one byte of any of its pieces differs", async () => {
    const { bytes, others } = threePieces();
    const fixture = await freshFile();
    await fixture.writes.POST(KEY, bytes);
    const after = await stateOf(fixture);
    for (const other of others) expect((await fixture.writes.POST(KEY, other)).status).toBe(409);
    expect(await stateOf(fixture)).toEqual(after);
  });
});

describe("an Idempotency-Key", () => {
  it("can be used again after a request that was refused", async () => {
    const { writes } = await freshFile();
    expect((await writes.POST({ ...KEY, "If-Match": '"9"' })).status).toBe(412);
    expect((await writes.PUT(KEY)).status).toBe(200);
  });

  it.each(["", "a b", "x".repeat(256)])("of %j is answered 400, and nothing is stored", async (key) => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    for (const method of WRITES) expect((await fixture.writes[method]({ "Idempotency-Key": key })).status).toBe(400);
    expect(await stateOf(fixture)).toEqual(before);
  });
});
