import { beforeAll, describe, expect, it } from "vitest";
import { setVariables } from "../support/bindings.ts";
import { freshItem, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { inOneGroup } from "../support/group.ts";
import { admin, freshVault, LOGIN, send } from "../support/service.ts";
import { rowsOf } from "../support/versions.ts";

/** Quotas of a vault (contract 12.6 and 13.23). */

const setQuota = (vault: string, quota: unknown) => admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { quota } });

/** What the admin sees of a vault. */
async function seen(vault: string) {
  const { body } = await admin("GET", "/v1/admin/vaults");
  return body.find(({ id }: { id: string }) => id === vault);
}

const DEFAULTS = { items: 100_000, bytes: 256 * 1024 ** 2, fileBytes: 10 * 1024 ** 3 };

describe("the admin", () => {
  it("sets single quotas, and null makes one the default again", async () => {
    const { body } = await admin("POST", "/v1/admin/vaults", { body: { name: "V", quota: { items: 5, bytes: null } } });
    expect(body.quota).toEqual({ ...DEFAULTS, items: 5 });
    expect((await setQuota(body.id, { fileBytes: 7 })).body.quota).toEqual({ ...DEFAULTS, items: 5, fileBytes: 7 });
    expect((await setQuota(body.id, { items: null, bytes: 0 })).body.quota).toEqual({ ...DEFAULTS, bytes: 0, fileBytes: 7 });
    expect(await seen(body.id)).toMatchObject({ attributeVersion: 3, quota: { ...DEFAULTS, bytes: 0, fileBytes: 7 } });
  });

  it("keeps the quotas when a vault is renamed and when an Item is written", async () => {
    const { vault, items, call } = await freshVault();
    await setQuota(vault, { items: 5 });
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "N" } });
    await call("POST", items, { body: LOGIN });
    expect((await seen(vault)).quota.items).toBe(5);
  });

  it("sees what a vault uses; the holder of a token does not", async () => {
    const { vault, call, upload } = await freshItem();
    await upload(pattern(100));
    const { usage } = await seen(vault);
    expect(usage).toEqual({ items: 1, bytes: expect.any(Number), fileBytes: 100 });
    expect(usage.bytes).toBeGreaterThan(500);
    const { body } = await call("GET", `/v1/vaults/${vault}`);
    expect([body.quota, body.usage]).toEqual([undefined, undefined]);
  });
});

describe("a vault at its quota of Items", () => {
  let fresh: Awaited<ReturnType<typeof freshItem>>;
  beforeAll(async () => {
    fresh = await freshItem();
    await setQuota(fresh.vault, { items: 1 });
  });

  it("refuses a further Item with a 507 that names the quota, without Retry-After (contract 4.9)", async () => {
    const { body, headers } = await fresh.call("POST", fresh.items, { body: LOGIN });
    expect(body).toEqual({ status: 507, message: "The vault has reached its quota of 1 Items" });
    expect([headers.get("Item-Vault-Error"), headers.get("Retry-After")]).toEqual(["quota", null]);
  });

  it("accepts larger Items and Files, also above the quota", async () => {
    await setQuota(fresh.vault, { items: 0 });
    const larger = [{ op: "add", path: "/fields", value: { value: "x" } }];
    expect((await fresh.call("PATCH", fresh.path, { body: larger })).status).toBe(200);
    expect((await fresh.upload(pattern(10))).status).toBe(200);
  });

  it("accepts an Item after a deletion without a retention; a deleted Item that is kept counts", async () => {
    for (const [days, status] of [
      [0, 200],
      [30, 507],
    ] as const) {
      const { vault, items, call } = await freshVault();
      await setVariables(vault, { DELETED_RETENTION_DAYS: days });
      await setQuota(vault, { items: 1 });
      const { id } = (await call("POST", items, { body: LOGIN })).body;
      expect((await call("DELETE", `${items}/${id}`)).status).toBe(204);
      expect((await call("POST", items, { body: LOGIN })).status).toBe(status);
    }
  });
});

const value = (text: string) => ({ body: [{ op: "replace", path: "/fields/f/value", value: text }] });

describe("a vault at its quota of bytes", () => {
  it("refuses what makes its sealed texts larger, and accepts what does not", async () => {
    const { vault, call, path, items, upload } = await freshItem();
    await call("PATCH", path, { body: [{ op: "add", path: "/fields", value: { id: "f", value: "x".repeat(300) } }] });
    await setVariables(vault, { VERSIONS_KEPT: 0 });
    await call("PATCH", path, value("y".repeat(300)));
    await setQuota(vault, { bytes: (await seen(vault)).usage.bytes });
    const { body } = await call("PATCH", path, value("x".repeat(400)));
    expect(body).toEqual({ status: 507, message: expect.stringMatching(/quota of \d+ bytes of Items$/) });
    expect((await call("POST", items, { body: LOGIN })).status).toBe(507);
    expect((await upload(pattern(1))).status).toBe(507);
    expect((await call("PATCH", path, value("y".repeat(300)))).status).toBe(200);
    expect((await call("PATCH", path, value(""))).status).toBe(200);
    expect((await call("PATCH", path, value("z".repeat(200)))).status).toBe(200);
  });

  it("gives up the oldest versions of the Item first, as many as needed, and no version of another Item", async () => {
    const { vault, call, path, items } = await freshItem();
    const other = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    await call("PATCH", other, { body: [{ op: "replace", path: "/title", value: "Other" }] });
    await call("PATCH", path, { body: [{ op: "add", path: "/fields", value: { id: "f", value: "x".repeat(300) } }] });
    for (let write = 0; write < 3; write++) await call("PATCH", path, value(String(write).repeat(300)));
    const used = async () => (await seen(vault)).usage.bytes;
    await setQuota(vault, { bytes: await used() });
    expect((await call("PATCH", path, value("y".repeat(300)))).status).toBe(200);
    expect((await rowsOf(vault, path.split("/").at(-1)!)).versions).toEqual([3, 4, 5]);
    await setQuota(vault, { bytes: await used() });
    expect((await call("PATCH", path, value("z".repeat(1500)))).status).toBe(200);
    expect((await rowsOf(vault, path.split("/").at(-1)!)).versions.length).toBeLessThan(2);
    expect((await call("PATCH", path, value("z".repeat(6000)))).status).toBe(507);
    expect((await rowsOf(vault, other.split("/").at(-1)!)).versions).toEqual([1]);
    expect((await call("DELETE", path)).status).toBe(204);
  });
});

describe("a vault at its quota of Files", () => {
  it("refuses a larger content and leaves nothing in R2, and accepts one of the same size", async () => {
    const { vault, files, upload, call } = await freshItem();
    const { id } = (await upload(pattern(100))).body;
    await setQuota(vault, { fileBytes: 150 });
    const { body } = await upload(pattern(51));
    expect(body).toEqual({ status: 507, message: "The vault has reached its quota of 150 bytes of Files" });
    const stream = new Response(pattern(51)).body!;
    expect((await upload(stream)).status).toBe(507);
    expect((await call("PUT", `${files}/${id}/content`, { body: pattern(151) })).status).toBe(507);
    expect(await objectsOf(vault)).toHaveLength(1);
    expect((await call("PUT", `${files}/${id}/content`, { body: pattern(150) })).status).toBe(200);
    expect((await upload(new Uint8Array())).status).toBe(200);
  });

  it("gives up the contents of the oldest versions first", async () => {
    const { vault, files, item, upload, call } = await freshItem();
    const { id } = (await upload(pattern(100))).body;
    await setQuota(vault, { fileBytes: 150 });
    const declared = { headers: lengthOf(pattern(120)), body: pattern(120) };
    expect((await call("PUT", `${files}/${id}/content`, declared)).status).toBe(200);
    expect(await rowsOf(vault, item)).toMatchObject({ ended: [] });
    await setQuota(vault, { fileBytes: 200 });
    expect((await call("DELETE", `${files}/${id}`)).status).toBe(204);
    expect((await seen(vault)).usage.fileBytes).toBe(120);
    expect((await upload(pattern(120))).status).toBe(200);
    expect((await upload(pattern(81))).status).toBe(507);
  });

  it("refuses a content of a declared size before its body is read", async () => {
    const { vault, files, call } = await freshItem();
    await setQuota(vault, { fileBytes: 150 });
    let read = false;
    const body = new ReadableStream({ pull: () => void (read = true) }, { highWaterMark: 0 });
    const reply = await call("POST", `${files}?name=g`, { body, headers: { "Content-Length": "151" } });
    expect([reply.status, read]).toEqual([507, false]);
  });
});

it("the Items of one group commit count together: 32 at once do not pass the quota", async () => {
  const { vault, items, call } = await freshVault();
  await setQuota(vault, { items: 10 });
  const create = () => call("POST", items, { body: LOGIN });
  const { others } = await inOneGroup(
    vault,
    create,
    Array.from({ length: 32 }, () => create),
  );
  expect(others.filter(({ status }) => status === 200)).toHaveLength(9);
  expect(others.filter(({ status }) => status === 507)).toHaveLength(23);
  expect((await seen(vault)).items).toBe(10);
});

it("the quotas do not appear in the list of the tokens", async () => {
  const { call } = await freshVault();
  expect(Object.keys((await call("GET", "/v1/vaults")).body[0])).not.toContain("quota");
  expect((await send("GET", "/v1/admin/vaults")).status).toBe(401);
});
