import { describe, expect, it } from "vitest";
import { freshFile, objectsOf, pattern } from "../support/files.ts";
import { admin, client, makeToken, type Request_, send } from "../support/service.ts";

/**
 * The order of checks (contract 1.4) on the paths of Files: token, form of the vault's id, scope, vault, form of the
 * Item's id, Item, File, and then what is wrong with the rest. Each request is wrong in all ways behind its first one.
 */

const PATHS = [
  ["GET files", "GET", ""],
  ["GET File", "GET", "/FILE"],
  ["GET content", "GET", "/FILE/content"],
  ["POST File", "POST", ""],
  ["PUT content", "PUT", "/FILE/content"],
  ["DELETE File", "DELETE", "/FILE"],
] as const;
const WITH_FILE = PATHS.filter(([, , tail]) => tail !== "");

/** Each header and the query are wrong; there is no name. */
const WRONG_QUERY = "?inline_files=nonsense";
const WRONG = { "If-Match": "nonsense", "Idempotency-Key": "a b", "Content-Encoding": "gzip", "Content-Digest": "nonsense" };

const missing = crypto.randomUUID();
const where = (vault: string, item: string, tail: string, file = missing) =>
  `/v1/vaults/${vault}/items/${item}/files${tail.replace("FILE", file)}${WRONG_QUERY}`;
const wrong = (method: string): Request_ => ({
  headers: WRONG,
  body: method === "POST" || method === "PUT" ? pattern(1) : undefined,
});

describe("before all else", () => {
  it.each(PATHS)("the token: %s", async (_, method, tail) => {
    const reply = await send(method, where("nonsense", "nonsense", tail), wrong(method));
    expect(reply.body).toEqual({ status: 401, message: "Invalid token signature" });
  });

  it.each(PATHS)("then the form of the vault's id: %s", async (_, method, tail) => {
    const { token } = await makeToken({});
    const reply = await client(token)(method, where("nonsense", "nonsense", tail), wrong(method));
    expect(reply.body).toEqual({ status: 400, message: "Invalid Vault UUID" });
  });

  it.each(PATHS)("then the scope: %s", async (name, method, tail) => {
    const { token } = await makeToken({});
    const reply = await client(token)(method, where(missing, "nonsense", tail), wrong(method));
    const hidden = name === "GET files" || name === "GET content";
    expect([reply.status, reply.body.message]).toEqual(
      hidden ? [404, `vault ${missing} not found`] : [403, `vault ${missing} is not in scope`],
    );
  });

  it.each(PATHS)("then the token's revocation: %s", async (_, method, tail) => {
    const { vault } = await freshFile();
    const { id, token } = await makeToken({ [vault]: "rw" });
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await client(token)(method, where(vault, "nonsense", tail), wrong(method))).status).toBe(401);
  });

  it.each(PATHS)("then the vault: %s", async (_, method, tail) => {
    const { vault, call } = await freshFile();
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    for (const item of ["nonsense", missing]) {
      const reply = await call(method, where(vault, item, tail), wrong(method));
      expect(reply.body).toEqual({ status: 404, message: `vault ${vault} not found` });
    }
  });

  it.each(PATHS)("then the form of the Item's id: %s", async (_, method, tail) => {
    const { vault, call } = await freshFile();
    const reply = await call(method, where(vault, "nonsense", tail), wrong(method));
    expect(reply.body).toEqual({ status: 400, message: "Invalid Item UUID" });
  });

  it.each(PATHS)("then the Item: %s", async (_, method, tail) => {
    const { vault, call } = await freshFile();
    const reply = await call(method, where(vault, missing, tail), wrong(method));
    expect(reply.body).toEqual({ status: 404, message: `item ${missing} not found` });
  });

  it.each(WITH_FILE)("then the File: %s", async (_, method, tail) => {
    const { vault, item, call } = await freshFile();
    const reply = await call(method, where(vault, item, tail), wrong(method));
    expect(reply.body).toEqual({ status: 404, message: `file ${missing} not found` });
  });

  it.each(["PUT", "DELETE"])("the File comes before an If-Match of another version: %s", async (method) => {
    const { call, files } = await freshFile();
    const path = `${files}/${missing}${method === "PUT" ? "/content" : ""}`;
    const { body } = await call(method, path, { headers: { "If-Match": '"99"' } });
    expect(body).toEqual({ status: 404, message: `file ${missing} not found` });
  });

  it("then what is wrong with the rest", async () => {
    const { vault, item, call, file } = await freshFile();
    const before = await objectsOf(vault);
    const statuses: Record<string, number> = {};
    for (const [name, method, tail] of PATHS.filter(([path]) => path !== "GET content")) {
      statuses[name] = (await call(method, where(vault, item, tail, file.id), wrong(method))).status;
    }
    expect(statuses).toEqual({ "GET files": 400, "GET File": 400, "POST File": 400, "PUT content": 415, "DELETE File": 400 });
    expect(await objectsOf(vault)).toEqual(before);
  });
});
