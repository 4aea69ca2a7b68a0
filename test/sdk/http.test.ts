import { connect } from "node:net";
import { describe, expect, inject, it } from "vitest";
import { sendRaw } from "./support/requests.ts";
import { freshVault, makeItems } from "./support/vault.ts";

/** Input that is no well-formed HTTP request: the platform answers it, and not the service (contract 1.11). */

/** Sends a text to the local server. Returns everything that it answers. */
const answerTo = (text: string) =>
  new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(inject("url"));
    let answer = "";
    connect(Number(port), hostname)
      .setEncoding("latin1")
      .on("data", (chunk: string) => (answer += chunk))
      .on("end", () => resolve(answer))
      .on("error", reject)
      .write(text);
  });

const HEADER = /^1Password-Connect-Version:/im;

it.each([
  ["an unknown method", "NOTHING /heartbeat HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["a request line without a path", "GET\r\nHost: x\r\n\r\n"],
  ["a header without a colon", "GET /heartbeat HTTP/1.1\r\nHost: x\r\nmalformed\r\n\r\n"],
])("%s gets an answer without the headers of the service", async (_, text) => {
  const answer = await answerTo(text);
  expect(answer).toMatch(/^HTTP\/1\.1 [45]\d\d /);
  expect(answer).not.toMatch(HEADER);
});

it("a well-formed request gets them", async () => {
  expect(await answerTo("GET /heartbeat HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).toMatch(HEADER);
});

/** Answers with `no-transform` through the local server, which compresses JSON for a client that accepts gzip (contract 1.7). */

const fresh = await freshVault();
await makeItems(fresh, "One");

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
