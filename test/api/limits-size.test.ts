import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type Client, freshVault, LOGIN } from "../support/service.ts";

/** The two limits of size (contract section 3): a request's body, and an Item as it is stored. */

const MIB = 1024 * 1024;
const KIB_512 = 512 * 1024;

/** An Item whose JSON has exactly so many bytes, as the client sends it. */
const bodyOf = (size: number) => JSON.stringify(LOGIN).padEnd(size, " ");

/** The same in chunks, as a client sends what it does not know the length of. */
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
    ["in chunks of a byte at its end", (size: number) => ({ body: chunked(size, size - 1) })],
  ] as const;

  it.each(forms)("is served, and one byte less: %s", async (_, request) => {
    const { items, call } = await freshVault();
    for (const size of [MIB - 1, MIB]) expect((await call("POST", items, request(size))).status).toBe(200);
  });

  it.each(forms)("and one byte more is a 413 that names the limit: %s", async (_, request) => {
    const { vault, items, call } = await freshVault();
    const { status, body } = await call("POST", items, request(MIB + 1));
    expect(status).toBe(413);
    expect(body).toEqual({ status: 413, message: expect.stringContaining(String(MIB)) });
    expect((await call("GET", `/v1/vaults/${vault}`)).body.items).toBe(0);
  });

  it.each(["PUT", "PATCH"])("holds for %s too", async (method) => {
    const { items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    expect((await call(method, `${items}/${id}`, { body: "[]".padEnd(MIB + 1) })).status).toBe(413);
    expect((await call(method, `${items}/${id}`, { body: "[]".padEnd(MIB) })).status).not.toBe(413);
  });

  it("is not read to its end when it is over the limit", async () => {
    const { items, call } = await freshVault();
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

/** Six texts: five as long as can be, and one of `rest` bytes. Together they go over the limit when `rest` nears 64 KiB. */
const fieldsOf = (rest: number) =>
  [65_536, 65_536, 65_536, 65_536, 65_536, rest].map((length, index) => ({ id: `f${index}`, value: "x".repeat(length) }));

/** What D1 holds of an Item. */
async function storedSize(item: string): Promise<number> {
  const sql = "SELECT length(overview) + length(details) AS size FROM items WHERE id = ?1";
  return (await env.DB.prepare(sql).bind(item).first<number>("size"))!;
}

/** The length of the last text with which an Item takes exactly 512 KiB: base64 turns 3 bytes into 4 characters. */
async function findBoundary(items: string, call: Client): Promise<number> {
  const { id } = (await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(60_000) } })).body;
  let rest = 60_000 + ((KIB_512 - (await storedSize(id))) / 4) * 3;
  // The last group of three bytes may have room for one or two more.
  while ((await call("PUT", `${items}/${id}`, { body: put(items, rest + 1) })).status === 200) rest++;
  return rest;
}

const put = (items: string, rest: number) => ({ ...LOGIN, vault: { id: items.split("/")[3] }, fields: fieldsOf(rest) });

describe("an Item of 512 KiB as stored", () => {
  it("is served, and with one byte less", async () => {
    const { items, call } = await freshVault();
    const rest = await findBoundary(items, call);
    for (const length of [rest - 1, rest]) {
      const { status, body } = await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(length) } });
      expect(status).toBe(200);
      expect(body.fields[5].value).toHaveLength(length);
      expect(await storedSize(body.id)).toBe(KIB_512);
      expect((await call("GET", `${items}/${body.id}`)).body).toEqual(body);
    }
  });

  it("and with one byte more is a 400 that names the limit: POST", async () => {
    const { vault, items, call } = await freshVault();
    const rest = await findBoundary(items, call);
    const { body } = await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(rest + 1) } });
    expect(body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
    expect((await call("GET", `/v1/vaults/${vault}`)).body.items).toBe(1);
  });

  it.each([
    ["PUT", (items: string, rest: number) => put(items, rest)],
    ["PATCH", (_: string, rest: number) => [{ op: "replace", path: "/fields/f5/value", value: "x".repeat(rest) }]],
  ])("and with one byte more is a 400 that names the limit, and the Item stays: %s", async (method, change) => {
    const { items, call } = await freshVault();
    const rest = await findBoundary(items, call);
    const { id } = (await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(1) } })).body;
    const at = await call(method, `${items}/${id}`, { body: change(items, rest) });
    expect(at.body.version).toBe(2);
    const over = await call(method, `${items}/${id}`, { body: change(items, rest + 1) });
    expect(over.body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
    expect((await call("GET", `${items}/${id}`)).body).toEqual(at.body);
  });

  it("counts what it is stored as, not its letters: a text that JSON and UTF-8 make longer", async () => {
    const { items, call } = await freshVault();
    const fields = [..."abcdef"].map((id) => ({ id, value: "\u0001".repeat(15_000) })); // 90,000 characters, 540,000 of JSON
    const { body } = await call("POST", items, { body: { ...LOGIN, fields } });
    expect(body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
  });
});
