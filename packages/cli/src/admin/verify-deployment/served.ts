import { hash } from "node:crypto";
import { CliError, failureOf } from "../../frame/failure.ts";
import { createFetch } from "../../frame/fetch.ts";
import type { Service } from "../../frame/settings.ts";

/** The files that a deployment serves at its address. */

/** Files that Cloudflare reads and does not serve. */
const NOT_SERVED = new Set(["_headers", "_redirects"]);

export const isServed = (path: string): boolean => !NOT_SERVED.has(path);

/** The most bytes of a static file (developers.cloudflare.com/workers/platform/limits/#static-assets). */
const FILE_BYTES_MAX = 25 * 1024 * 1024;

/** Files that are requested at a time. */
const FILES_AT_ONCE = 8;

/** The outcome of a request for a file. */
export type Served = { readonly sha256: string } | { readonly status: number };

/**
 * Requests the static files, given by their paths in the deployed folder. Returns the SHA-256 of each served file, and the status of any
 * other answer. Throws a CliError if the service does not answer, or is unavailable.
 */
export async function loadServed(service: Service, paths: readonly string[]): Promise<Map<string, Served>> {
  const found = new Map<string, Served>();
  for (let at = 0; at < paths.length; at += FILES_AT_ONCE) {
    const some = paths.slice(at, at + FILES_AT_ONCE);
    const served = await Promise.all(some.map((path) => loadFile(service, addressOf(path))));
    for (const [index, path] of some.entries()) found.set(path, served[index]!);
  }
  return found;
}

/** Returns the address at which Cloudflare serves a file (html_handling `auto-trailing-slash`, its default). */
const addressOf = (path: string): string => `/${path.replace(/(^|\/)index\.html$/, "$1").replace(/\.html$/, "")}`;

async function loadFile(service: Service, path: string): Promise<Served> {
  const { status, bytes } = await ask(service, path);
  return status === 200 ? { sha256: hash("sha256", bytes) } : { status };
}

/** Returns the version that /health shows (contract 13.2), or undefined. Throws as `loadServed` does. */
export async function loadVersion(service: Service): Promise<string | undefined> {
  const { bytes } = await ask(service, "/health");
  try {
    const { version } = JSON.parse(bytes.toString("utf8")) as { version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

async function ask({ host, timeout }: Service, path: string): Promise<{ status: number; bytes: Buffer }> {
  const send = createFetch(timeout, { onlyItemVault: false });
  try {
    const response = await send(host + path, { redirect: "manual" });
    const { status } = response;
    const bytes = await readBody(response, host + path);
    if (status === 429 || status >= 500) throw new CliError(`${host}${path} answers ${status}`, { exit: "unavailable" });
    return { status, bytes };
  } catch (error) {
    throw failureOf(error) ?? new CliError(`The service at ${new URL(host).origin} does not answer`, { exit: "unavailable" });
  }
}

/** Throws a CliError for more bytes than a static file has: no deployed file has so many. */
async function readBody(response: Response, url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > FILE_BYTES_MAX)
      throw new CliError(`${url} answers with more than ${FILE_BYTES_MAX} bytes`, { exit: "unavailable" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
