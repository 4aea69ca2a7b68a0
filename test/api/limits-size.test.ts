import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type Client, freshVault, shareVault, LOGIN } from "../support/service.ts";

/** The two limits of size (contract 12.1 and 12.2): the body of a request, and the encrypted form of an Item. */

const sharedVault = shareVault();

const MIB = 1024 * 1024;
const KIB_512 = 512 * 1024;

/** The JSON of an Item, padded with spaces to exactly `size` bytes. */
const bodyOf = (size: number) => JSON.stringify(LOGIN).padEnd(size, " ");

/** The same body as a stream of chunks, as a client sends a body of unknown length. */
function chunked(size: number, chunk = 100_000): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(bodyOf(size));
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= size) return controller.close();
      controller.enqueue(bytes.subarray(sent, (sent += chunk)));
    },
  });
}

describe("a body of 1 MiB", () => {
  const forms = [
    ["whole", (size: number) => ({ body: bodyOf(size) })],
    ["with its Content-Length", (size: number) => ({ body: bodyOf(size), headers: { "Content-Length": String(size) } })],
    ["in chunks, without a Content-Length", (size: number) => ({ body: chunked(size) })],
    ["in chunks, the last one of 1 byte", (size: number) => ({ body: chunked(size, size - 1) })],
  ] as const;

  it.each(forms)("is accepted, and so is one byte less: %s", async (_, request) => {
    const { items, call } = await sharedVault();
    for (const size of [MIB - 1, MIB]) expect((await call("POST", items, request(size))).status).toBe(200);
  });

  it.each(forms)("is the limit: one byte more is a 413 that names it: %s", async (_, request) => {
    const { vault, items, call } = await freshVault();
    const { status, body } = await call("POST", items, request(MIB + 1));
    expect(status).toBe(413);
    expect(body).toEqual({ status: 413, message: expect.stringContaining(String(MIB)) });
    expect((await call("GET", `/v1/vaults/${vault}`)).body.items).toBe(0);
  });

  it.each(["PUT", "PATCH"])("is the limit for %s too", async (method) => {
    const { items, call } = await sharedVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    expect((await call(method, `${items}/${id}`, { body: "[]".padEnd(MIB + 1) })).status).toBe(413);
    expect((await call(method, `${items}/${id}`, { body: "[]".padEnd(MIB) })).status).not.toBe(413);
  });

  it("is the limit beyond which a body is not read further", async () => {
    const { items, call } = await sharedVault();
    let chunks = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks++;
        if (chunks === 1000) return controller.close();
        controller.enqueue(new Uint8Array(64 * 1024).fill(32));
      },
    });
    expect((await call("POST", items, { body })).status).toBe(413);
    expect(chunks).toBeLessThan(30);
  });
});

/** Six fields: five values of the greatest length, and one of `rest` bytes. The Item exceeds the limit before `rest` is 64 KiB. */
const fieldsOf = (rest: number) =>
  [65_536, 65_536, 65_536, 65_536, 65_536, rest].map((length, index) => ({ id: `f${index}`, value: "x".repeat(length) }));

/** The length of an Item's encrypted form in D1. */
async function storedSize(item: string): Promise<number> {
  const sql = "SELECT length(overview) + length(details) AS size FROM items WHERE id = ?1";
  return (await env.DB.prepare(sql).bind(item).first<number>("size"))!;
}

/** The greatest `rest` with which an Item has exactly 512 KiB. Base64 turns 3 bytes into 4 characters. */
async function findBoundary(items: string, call: Client): Promise<number> {
  const { id } = (await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(60_000) } })).body;
  let rest = 60_000 + ((KIB_512 - (await storedSize(id))) / 4) * 3;
  // The last group of three bytes may have room for one or two more.
  while ((await call("PUT", `${items}/${id}`, { body: putBody(items, rest + 1) })).status === 200) rest++;
  return rest;
}

const putBody = (items: string, rest: number) => ({ ...LOGIN, vault: { id: items.split("/")[3] }, fields: fieldsOf(rest) });

describe("an Item of 512 KiB in its encrypted form", () => {
  it("is accepted, and so is an Item with one byte less", async () => {
    const { items, call } = await sharedVault();
    const rest = await findBoundary(items, call);
    for (const length of [rest - 1, rest]) {
      const { status, body } = await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(length) } });
      expect(status).toBe(200);
      expect(body.fields[5].value).toHaveLength(length);
      expect(await storedSize(body.id)).toBe(KIB_512);
      expect((await call("GET", `${items}/${body.id}`)).body).toEqual(body);
    }
  });

  it("is the limit: one byte more is a 400 that names it: POST", async () => {
    const { vault, items, call } = await freshVault();
    const rest = await findBoundary(items, call);
    const { body } = await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(rest + 1) } });
    expect(body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
    expect((await call("GET", `/v1/vaults/${vault}`)).body.items).toBe(1);
  });

  it.each([
    ["PUT", (items: string, rest: number) => putBody(items, rest)],
    ["PATCH", (_: string, rest: number) => [{ op: "replace", path: "/fields/f5/value", value: "x".repeat(rest) }]],
  ])("is the limit: one byte more is a 400 that names it, and the Item is unchanged: %s", async (method, change) => {
    const { items, call } = await sharedVault();
    const rest = await findBoundary(items, call);
    const { id } = (await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(1) } })).body;
    const accepted = await call(method, `${items}/${id}`, { body: change(items, rest) });
    expect(accepted.body.version).toBe(2);
    const refused = await call(method, `${items}/${id}`, { body: change(items, rest + 1) });
    expect(refused.body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
    expect((await call("GET", `${items}/${id}`)).body).toEqual(accepted.body);
  });

  it("is the limit for the bytes of the stored JSON, not for its characters", async () => {
    const { items, call } = await sharedVault();
    // 90,000 characters, which JSON escapes to 540,000 bytes.
    const fields = [..."abcdef"].map((id) => ({ id, value: "\u0001".repeat(15_000) }));
    const { body } = await call("POST", items, { body: { ...LOGIN, fields } });
    expect(body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
  });
});
