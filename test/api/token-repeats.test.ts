import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { admin, client, makeVault } from "../support/service.ts";

/** Repeated requests to issue and to revoke a token (contract 10.19, 10.22). */

const tokensOf = async (name: string): Promise<{ id: string }[]> =>
  (await admin("GET", "/v1/admin/tokens")).body.filter((token: { name: string }) => token.name === name);

async function newRequest() {
  const vault = await makeVault();
  const name = crypto.randomUUID();
  const body = { name, vaults: { [vault]: "rw" } };
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  const post = (changed: object = {}, bindings: Partial<Env> = {}) =>
    admin("POST", "/v1/admin/tokens", { body: { ...body, ...changed }, headers, env: bindings });
  return { vault, name, body, post };
}

const CONFLICT = { status: 409, message: "This Idempotency-Key came with another request before" };

describe("POST /v1/admin/tokens with an Idempotency-Key", () => {
  it("that is sent again gets the same answer, also when time has passed, and issues one token", async () => {
    const { vault, name, post } = await newRequest();
    const first = await post();
    expect(first.status).toBe(200);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3 * 24 * 60 * 60 * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    const second = await post();
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await tokensOf(name)).toHaveLength(1);
    expect((await client(second.body.token)("GET", `/v1/vaults/${vault}`)).status).toBe(200);
  });

  it("that is sent again gets the same vaults in a token of the dialect connect", async () => {
    const { vault, post } = await newRequest();
    const first = await post({ dialect: "connect" });
    expect(first.body.vaults).toEqual({ [writeId(vault, "connect")]: "rw" });
    expect((await post({ dialect: "connect" })).text).toBe(first.text);
  });

  it("that is sent twice at the same time issues one token, which both answers contain", async () => {
    const { name, post } = await newRequest();
    const replies = await Promise.all([post(), post(), post()]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(await tokensOf(name)).toHaveLength(1);
  });

  it("that is sent again after D1 has lost the first answer gets the token", async () => {
    const { vault, name, post } = await newRequest();
    let lost = false;
    const after = (results: D1Result[]) => {
      if (results.length < 2 || lost) return;
      lost = true;
      throw new Error("D1_ERROR: Network connection lost.");
    };
    expect((await post({}, { DB: wrapDatabase(env.DB, { after }) })).status).toBe(503);
    const { body } = await post();
    expect((await tokensOf(name)).map(({ id }) => id)).toEqual([body.id]);
    expect((await client(body.token)("GET", `/v1/vaults/${vault}`)).status).toBe(200);
  });

  it("that is sent again with a new active root key gets the same token", async () => {
    const { post } = await newRequest();
    const first = await post();
    const { keys } = JSON.parse(env.ROOT_KEYS);
    const ROOT_KEYS = JSON.stringify({ active: "k2", keys: { ...keys, k2: btoa("fedcba9876543210fedcba9876543210") } });
    expect((await post({}, { ROOT_KEYS })).body).toEqual(first.body);
  });

  it("compares what is asked for, not the bytes: a default may be written out, an id in its other form", async () => {
    const { vault, post } = await newRequest();
    const first = await post();
    const same = { vaults: { [vault.toUpperCase()]: "rw" }, dialect: "uuid", expiresIn: 90 * 24 * 60 * 60 };
    expect((await post(same)).body).toEqual(first.body);
  });

  it.each([
    ["name", () => ({ name: "other" })],
    ["vaults", () => ({ vaults: {} })],
    ["permissions", (vault: string) => ({ vaults: { [vault]: "r" } })],
    ["dialect", () => ({ dialect: "connect" })],
    ["lifetime", () => ({ expiresIn: 60 })],
  ] as const)("that came with another request is a 409: another %s", async (_, change) => {
    const { vault, name, post } = await newRequest();
    await post();
    expect((await post(change(vault))).body).toEqual(CONFLICT);
    expect(await tokensOf(name)).toHaveLength(1);
  });

  it("is a 409 after the token was revoked: it is not issued again", async () => {
    const { name, post } = await newRequest();
    await admin("DELETE", `/v1/admin/tokens/${(await post()).body.id}`);
    expect((await post()).body).toEqual(CONFLICT);
    expect(await tokensOf(name)).toEqual([]);
  });

  it("is a 409 after the token has expired", async () => {
    const { post } = await newRequest();
    await post({ expiresIn: 60 });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { body } = await post({ expiresIn: 60 });
    expect(body).toEqual(CONFLICT);
  });

  it("does not use the id of a vault that was created with the same key", async () => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const vault = await admin("POST", "/v1/admin/vaults", { body: { name: "Same" }, headers });
    const token = await admin("POST", "/v1/admin/tokens", { body: { name: "same", vaults: {} }, headers });
    expect([vault.status, token.status, vault.body.id === token.body.id]).toEqual([200, 200, false]);
  });

  it("is a 400 when it is malformed", async () => {
    const headers = { "Idempotency-Key": "two words" };
    expect((await admin("POST", "/v1/admin/tokens", { body: { name: "n", vaults: {} }, headers })).status).toBe(400);
  });
});

describe("DELETE /v1/admin/tokens/{t}", () => {
  it("that is sent again is a 204, also twice at the same time", async () => {
    const { id } = (await (await newRequest()).post()).body;
    const revoke = () => admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await Promise.all([revoke(), revoke()])).map(({ status }) => status)).toEqual([204, 204]);
    expect((await revoke()).status).toBe(204);
  });
});
