import { expect } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { bytesOf } from "../support/files.ts";
import { client, fetchRaw, makeToken, makeVault, type Reply, send } from "../support/service.ts";

/** Plays back what the clients of Connect send: raw paths, their headers, bodies as text. */

/** Sends one request. The path is written as the client encodes it. */
export type Play = (method: string, path: string, body?: string) => Promise<Reply>;

/** A vault of that name, and a token of the dialect `connect` that reads and writes it, alone. */
export async function connectVault(name = "Test") {
  const uuid = await makeVault(name);
  const { token } = await makeToken({ [uuid]: "rw" }, { dialect: "connect" });
  const vault = writeId(uuid, "connect");
  return { vault, token, call: client(token), items: `/v1/vaults/${vault}/items` };
}

/** The client of these headers. In: its base URL past the host: `/` for one that ends in a slash. */
export const player =
  (headers: Record<string, string>, token: string, base = ""): Play =>
  async (method, path, body) => {
    const reply = await send(method, base + path, { headers: { Authorization: `Bearer ${token}`, ...headers }, body });
    expectAnswer(reply);
    return reply;
  };

/** What every client relies on in every answer: these statuses and no others, the version of Connect, errors as JSON. */
function expectAnswer({ status, headers, text, body }: Reply): void {
  expect(status).toBeOneOf([200, 204, 400, 401, 403, 404]);
  expect(headers.get("1Password-Connect-Version")).toMatch(/^\d+\.\d+\.\d+$/);
  if (status === 204) expect(text).toBe("");
  if (status >= 400) expect(body).toStrictEqual({ status, message: expect.any(String) });
}

/** Downloads. In: the path as the client makes it. */
export async function download(headers: Record<string, string>, token: string, path: string) {
  const response = await fetchRaw("GET", path, { headers: { Authorization: `Bearer ${token}`, ...headers } });
  return { status: response.status, headers: response.headers, bytes: await bytesOf(response) };
}

/** Attaches a File, which no client of Connect can do. Out: the File. */
export async function attach(call: ReturnType<typeof client>, item: string, query: string, bytes: Uint8Array) {
  const { status, body } = await call("POST", `${item}/files?${query}`, { body: bytes });
  expect(status).toBe(200);
  return body;
}

/** What connect-sdk-go sends with every request, for whoever uses it: a body or not, it says JSON. */
export const goHeaders = (userAgent: string) => ({
  "User-Agent": userAgent,
  "Content-Type": "application/json",
  "Accept-Encoding": "gzip",
  "X-B3-Traceid": "3c5f8d2a91b04e67",
  "X-B3-Spanid": "3c5f8d2a91b04e67",
  "X-B3-Sampled": "0",
});

export const ID = /^[a-z2-7]{26}$/;

/** RFC 3339 in UTC, with `Z`: both time.Time of Go and dateutil of Python read it. */
export const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;
