import { env } from "cloudflare:workers";
import { PIECE_BYTES } from "../../src/crypto/pieces.ts";
import { watchBucket } from "./bindings.ts";
import { type Client, fetchRaw, freshVault, LOGIN, type Reply, type Request_ } from "./service.ts";

export const freshItem = async (dialect: "uuid" | "connect" = "uuid") => itemIn(await freshVault(dialect));

/** A new Item in a vault, and the paths of its Files. */
export async function itemIn(fresh: Awaited<ReturnType<typeof freshVault>>) {
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
    /** Uploads a File: bytes with their Content-Length, as over HTTP, and a stream without. */
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

/** Bytes whose values depend on their positions, so that a comparison detects moved bytes. */
export function pattern(size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8) * 7 + (at >> 16)) & 255;
  return bytes;
}

/** Bytes of three pieces, and for each piece bytes that differ in it alone: in its last byte. */
export function threePieces(): { readonly bytes: Uint8Array; readonly others: readonly Uint8Array[] } {
  const bytes = pattern(2 * PIECE_BYTES + 2);
  const ends = [PIECE_BYTES, 2 * PIECE_BYTES, bytes.length];
  return { bytes, others: ends.map((end) => bytes.with(end - 1, bytes[end - 1]! ^ 1)) };
}

export const bytesOf = async (response: Response): Promise<Uint8Array> => new Uint8Array(await response.arrayBuffer());

/** The keys of all objects in R2 that belong to a vault. */
export const objectsOf = async (vault: string): Promise<string[]> =>
  (await env.FILES.list({ prefix: `${vault}/` })).objects.map(({ key }) => key);

/** An Item with one File in a section, and every kind of write to its Files. */
export async function freshFile(bytes: Uint8Array = pattern(100), dialect: "uuid" | "connect" = "uuid") {
  const fresh = await freshItem(dialect);
  const { body: file } = await fresh.upload(bytes, "?name=f&section=s");
  const one = `${fresh.files}/${file.id}`;
  const write =
    (method: string, path: string, standard?: Uint8Array) =>
    (headers: Record<string, string> = {}, body: Uint8Array | undefined = standard): Promise<Reply> =>
      fresh.call(method, path, { headers: { ...(body && lengthOf(body)), ...headers }, body });
  const writes = {
    POST: write("POST", `${fresh.files}?name=g`, pattern(200)),
    PUT: write("PUT", `${one}/content`, pattern(300)),
    DELETE: write("DELETE", one),
  };
  return { ...fresh, file, one, writes };
}

/** The state that a write to a vault's Files can change: rows, objects, the Item and the versions. */
export async function stateOf({ call, vault, path }: { call: Client; vault: string; path: string }) {
  const { results: rows } = await env.DB.prepare("SELECT * FROM files WHERE vault_id = ?1 ORDER BY id").bind(vault).all();
  const [item, { contentVersion }] = [(await call("GET", path)).body, (await call("GET", `/v1/vaults/${vault}`)).body];
  return { rows, objects: await objectsOf(vault), item, contentVersion: contentVersion as number };
}

/** R2 that records the range of each `get`; `undefined` stands for a whole object. */
export function recordingBucket(bucket: R2Bucket = env.FILES) {
  const ranges: unknown[] = [];
  const recording = watchBucket(bucket, (name, [, options]) => {
    if (name === "get") ranges.push((options as R2GetOptions | undefined)?.range);
  });
  return { ranges, bucket: recording };
}
