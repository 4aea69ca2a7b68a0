import { env } from "cloudflare:workers";
import { fetchRaw, freshVault, LOGIN, type Reply, type Request_ } from "./service.ts";

/** An Item in a fresh vault, and the paths of its Files. */
export async function freshItem(dialect: "uuid" | "connect" = "uuid") {
  const fresh = await freshVault(dialect);
  const { body: item } = await fresh.call("POST", fresh.items, { body: { ...LOGIN, category: "DOCUMENT" } });
  const path = `${fresh.items}/${item.id}`;
  const files = `${path}/files`;
  const authorized = (request: Request_ = {}): Request_ => ({
    ...request,
    headers: { Authorization: `Bearer ${fresh.token}`, ...(request.headers as Record<string, string>) },
  });
  return {
    ...fresh,
    item: item.id as string,
    path,
    files,
    /** Bytes go with their Content-Length, as over HTTP; a stream goes without. */
    upload: (bytes: Uint8Array | ReadableStream, query = "?name=f", request: Request_ = {}): Promise<Reply> =>
      fresh.call("POST", files + query, {
        ...request,
        headers: { ...lengthOf(bytes), ...(request.headers as Record<string, string>) },
        body: bytes,
      }),
    download: (file: string, request: Request_ = {}): Promise<Response> =>
      fetchRaw("GET", `${files}/${file}/content`, authorized(request)),
  };
}

export const lengthOf = (bytes: Uint8Array | ReadableStream): Record<string, string> =>
  bytes instanceof Uint8Array ? { "Content-Length": String(bytes.length) } : {};

/** Bytes that tell where they are. */
export function pattern(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16)) & 255;
  return bytes;
}

export const bytesOf = async (response: Response): Promise<Uint8Array> => new Uint8Array(await response.arrayBuffer());

/** The keys of all objects in R2 that belong to a vault. */
export const objectsOf = async (vault: string): Promise<string[]> =>
  (await env.FILES.list({ prefix: `${vault}/` })).objects.map(({ key }) => key);
