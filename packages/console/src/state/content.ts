import { type File as StoredFile, type Item, ItemVaultError } from "@item-vault/client";
import { call } from "./client.ts";
import { pathOf } from "./item-writes.ts";

/** Contents of Files, loaded only when they are asked for. */

interface Options {
  readonly signal?: AbortSignal;
  /** The version of the content, if the Item may have changed since. */
  readonly version?: number;
  readonly first?: number;
  /** Is called with the number of bytes that have arrived since the call before. */
  readonly onBytes?: (count: number) => void;
}

/** The parts of an Item that locate its Files. A deleted Item has `state: "DELETED"`. */
type Owner = Pick<Item, "id" | "vault"> & { readonly state?: string };

const CONTENT = "/files/{file}/content";

/** Loads a whole content. Throws an ItemVaultError, of kind `network` if it ended early, or the reason of the aborted `signal`. */
export async function loadContent(item: Owner, file: StoredFile, options: Options = {}): Promise<Blob> {
  const { signal, version, first, onBytes } = options;
  const path = { ...pathOf(item), file: file.id };
  const request = {
    path,
    ...(signal && { signal }),
    ...(first !== undefined && { headers: { Range: `bytes=0-${first - 1}` } }),
  };
  const { data } =
    item.state === "DELETED"
      ? await call(`GET /v1/vaults/{vault}/deleted-items/{item}${CONTENT}`, request)
      : await call(`GET /v1/vaults/{vault}/items/{item}${CONTENT}`, { ...request, ...(version && { query: { version } }) });
  const transform = (chunk: Uint8Array, output: TransformStreamDefaultController<Uint8Array>) => {
    onBytes?.(chunk.length);
    output.enqueue(chunk);
  };
  try {
    const counted = data.body!.pipeThrough(new TransformStream({ transform }));
    // No browser opens this type as a page.
    return await new Response(counted, { headers: { "Content-Type": "application/octet-stream" } }).blob();
  } catch {
    signal?.throwIfAborted();
    throw new ItemVaultError("The download ended early", { kind: "network", status: 0 });
  }
}

/** An extended value of a header (RFC 8187 section 3.2.1). */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

/** The header with the name of a File that is uploaded: in a query it would be logged, and names of Files are encrypted in the service. */
export const dispositionOf = (name: string): string => `attachment; filename*=UTF-8''${encodeName(name)}`;
