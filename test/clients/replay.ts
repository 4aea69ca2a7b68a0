import { expect } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { bytesOf } from "../support/files.ts";
import { client, fetchRaw, makeToken, makeVault, type Reply, send } from "../support/service.ts";

/**
 * Sends requests as the clients of 1Password Connect do: with their paths in their encoding, their headers, and bodies as
 * text.
 */

/** Sends one request. In: the path in the encoding of the client; the body as text. */
export type SendRequest = (method: string, path: string, body?: string) => Promise<Reply>;

/** A new vault, and a token of the dialect `connect` with the permission `rw` for this vault only. */
export async function connectVault(name = "Test") {
  const vaultUuid = await makeVault(name);
  const { token } = await makeToken({ [vaultUuid]: "rw" }, { dialect: "connect" });
  const vault = writeId(vaultUuid, "connect");
  return { vault, token, call: client(token), items: `/v1/vaults/${vault}/items` };
}

/**
 * A function that sends requests with these headers. In: the path of the client's base URL: `/` if the base URL ends in a
 * slash.
 */
export const requester =
  (headers: Record<string, string>, token: string, base = ""): SendRequest =>
  async (method, path, body) => {
    const reply = await send(method, base + path, { headers: { Authorization: `Bearer ${token}`, ...headers }, body });
    expectAnswer(reply);
    return reply;
  };

/** Checks what every client relies on in every answer: the possible statuses, the version of Connect, and errors as JSON. */
function expectAnswer({ status, headers, text, body }: Reply): void {
  expect(status).toBeOneOf([200, 204, 400, 401, 403, 404]);
  expect(headers.get("1Password-Connect-Version")).toMatch(/^\d+\.\d+\.\d+$/);
  if (status === 204) expect(text).toBe("");
  if (status >= 400) expect(body).toStrictEqual({ status, message: expect.any(String) });
}

/** Downloads a content. In: the path that the client builds. */
export async function download(headers: Record<string, string>, token: string, path: string) {
  const response = await fetchRaw("GET", path, { headers: { Authorization: `Bearer ${token}`, ...headers } });
  return { status: response.status, headers: response.headers, bytes: await bytesOf(response) };
}

/** Uploads a File to an Item. The clients of Connect have no request for this. Out: the File. */
export async function attach(call: ReturnType<typeof client>, item: string, query: string, bytes: Uint8Array) {
  const { status, body } = await call("POST", `${item}/files?${query}`, { body: bytes });
  expect(status).toBe(200);
  return body;
}

/** The headers that connect-sdk-go sends with every request. It sends the Content-Type also without a body. */
export const goHeaders = (userAgent: string) => ({
  "User-Agent": userAgent,
  "Content-Type": "application/json",
  "Accept-Encoding": "gzip",
  "X-B3-Traceid": "3c5f8d2a91b04e67",
  "X-B3-Spanid": "3c5f8d2a91b04e67",
  "X-B3-Sampled": "0",
});

export const ID = /^[a-z2-7]{26}$/;

/** RFC 3339 in UTC with `Z`, which time.Time of Go and dateutil of Python parse. */
export const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;
