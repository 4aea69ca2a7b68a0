import { beforeAll, describe, expect, inject, it } from "vitest";
import { sendRaw } from "./support/requests.ts";
import { freshVault, makeItems, type TestVault } from "./support/vault.ts";

/** Answers with `no-transform` through the local server, which compresses JSON for a client that accepts gzip (contract 1.7). */

let fresh: TestVault;
beforeAll(async () => {
  fresh = await freshVault();
  await makeItems(fresh, "One");
});

/** As net/http of Ruby sends it, which op_connect 0.1.3 uses. */
const send = (path: string, token: string) =>
  sendRaw({ path, headers: { Authorization: `Bearer ${token}`, "Accept-Encoding": "gzip;q=1.0,deflate;q=0.6,identity;q=0.3" } });

describe("the local server does not compress", () => {
  it.each([
    ["a page of the log", () => "/v1/activity?limit=10&offset=0", () => fresh.token],
    ["the log of the admin", () => "/v1/admin/activity", () => inject("secrets").ADMIN_TOKEN],
    ["a page of events", () => `/v1/vaults/${fresh.vault}/events?after=0`, () => fresh.token],
  ])("%s", async (_, path, token) => {
    const { headers, body } = await send(path(), token());
    expect(headers).toMatchObject({ "cache-control": "no-store, no-transform", "content-encoding": "identity" });
    expect(() => JSON.parse(body.toString()) as unknown).not.toThrow();
  });
});

describe("the local server compresses", () => {
  it("what may be transformed, so that the test above shows something", async () => {
    const { headers } = await send(`/v1/vaults/${fresh.vault}/items`, fresh.token);
    expect(headers["content-encoding"]).toBe("gzip");
  });
});
