import { beforeAll, describe, expect, it } from "vitest";
import { freshFile, objectsOf, pattern } from "../support/files.ts";
import { admin, type Client, client, makeToken, type Request_, send } from "../support/service.ts";

/**
 * The order of checks (contract 4.5) on the paths of Files. Each request fails one check and as many of the later ones as
 * possible; the answer is that of the first check that fails.
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

/** Invalid headers and an invalid query, without a name: they fail the last check. */
const INVALID_QUERY = "?inline_files=nonsense";
const INVALID_HEADERS = {
  "If-Match": "nonsense",
  "Idempotency-Key": "a b",
  "Content-Encoding": "gzip",
  "Content-Digest": "nonsense",
};

const missing = crypto.randomUUID();
const pathOf = (vault: string, item: string, tail: string, file = missing) =>
  `/v1/vaults/${vault}/items/${item}/files${tail.replace("FILE", file)}${INVALID_QUERY}`;
const invalidRequest = (method: string): Request_ => ({
  headers: INVALID_HEADERS,
  body: method === "POST" || method === "PUT" ? pattern(1) : undefined,
});

/** A File that no request of these tests changes, and one whose vault was deleted. */
let fixture: Awaited<ReturnType<typeof freshFile>>;
let gone: Awaited<ReturnType<typeof freshFile>>;
/** A token without vaults, and one that was revoked. */
let none: Client;
let revoked: Client;

beforeAll(async () => {
  [fixture, gone] = [await freshFile(), await freshFile()];
  none = client((await makeToken({})).token);
  const { id, token } = await makeToken({ [gone.vault]: "rw" });
  revoked = client(token);
  await admin("DELETE", `/v1/admin/vaults/${gone.vault}`);
  await admin("DELETE", `/v1/admin/tokens/${id}`);
});

describe("a request that fails several checks", () => {
  it.each(PATHS)("is refused for its token first: %s", async (_, method, tail) => {
    const reply = await send(method, pathOf("nonsense", "nonsense", tail), invalidRequest(method));
    expect(reply.body).toEqual({ status: 401, message: "Invalid token signature" });
  });

  it.each(PATHS)("is refused for the form of the vault id before its scope: %s", async (_, method, tail) => {
    const reply = await none(method, pathOf("nonsense", "nonsense", tail), invalidRequest(method));
    expect(reply.body).toEqual({ status: 400, message: "Invalid Vault UUID" });
  });

  it.each(PATHS)("is refused for its scope before the missing vault: %s", async (name, method, tail) => {
    const reply = await none(method, pathOf(missing, "nonsense", tail), invalidRequest(method));
    const answers404 = name === "GET files" || name === "GET content";
    expect([reply.status, reply.body.message]).toEqual(
      answers404 ? [404, `vault ${missing} not found`] : [403, `vault ${missing} is not in scope`],
    );
  });

  it.each(PATHS)("is refused for its revoked token before the missing vault: %s", async (_, method, tail) => {
    expect((await revoked(method, pathOf(gone.vault, "nonsense", tail), invalidRequest(method))).status).toBe(401);
  });

  it.each(PATHS)("is refused for the missing vault before the Item: %s", async (_, method, tail) => {
    const { vault, call } = gone;
    for (const item of ["nonsense", missing]) {
      const reply = await call(method, pathOf(vault, item, tail), invalidRequest(method));
      expect(reply.body).toEqual({ status: 404, message: `vault ${vault} not found` });
    }
  });

  it.each(PATHS)("is refused for the form of the Item id before the missing File: %s", async (_, method, tail) => {
    const { vault, call } = fixture;
    const reply = await call(method, pathOf(vault, "nonsense", tail), invalidRequest(method));
    expect(reply.body).toEqual({ status: 400, message: "Invalid Item UUID" });
  });

  it.each(PATHS)("is refused for the missing Item before the missing File: %s", async (_, method, tail) => {
    const { vault, call } = fixture;
    const reply = await call(method, pathOf(vault, missing, tail), invalidRequest(method));
    expect(reply.body).toEqual({ status: 404, message: `item ${missing} not found` });
  });

  it.each(WITH_FILE)("is refused for the missing File before the headers, query and body: %s", async (_, method, tail) => {
    const { vault, item, call } = fixture;
    const reply = await call(method, pathOf(vault, item, tail), invalidRequest(method));
    expect(reply.body).toEqual({ status: 404, message: `file ${missing} not found` });
  });

  it.each(["PUT", "DELETE"])("is refused for the missing File before an If-Match of another version: %s", async (method) => {
    const { call, files } = fixture;
    const path = `${files}/${missing}${method === "PUT" ? "/content" : ""}`;
    const { body } = await call(method, path, { headers: { "If-Match": '"99"' } });
    expect(body).toEqual({ status: 404, message: `file ${missing} not found` });
  });

  it("is refused for its headers or query last, and nothing is stored", async () => {
    const { vault, item, call, file } = fixture;
    const before = await objectsOf(vault);
    const statuses: Record<string, number> = {};
    for (const [name, method, tail] of PATHS.filter(([path]) => path !== "GET content")) {
      statuses[name] = (await call(method, pathOf(vault, item, tail, file.id), invalidRequest(method))).status;
    }
    expect(statuses).toEqual({ "GET files": 400, "GET File": 400, "POST File": 400, "PUT content": 415, "DELETE File": 400 });
    expect(await objectsOf(vault)).toEqual(before);
  });
});
