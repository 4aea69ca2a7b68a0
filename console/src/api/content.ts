import { ItemVaultError } from "@item-vault/client";
import { send } from "./client.ts";

/** Contents of Files. */

interface Options {
  readonly query?: Readonly<Record<string, number>>;
  readonly signal?: AbortSignal;
  /** Is called with the number of bytes that have arrived since the call before. */
  readonly onBytes?: (count: number) => void;
}

/**
 * A content as a whole. In: its path. Errors: throws an ItemVaultError, of kind `network` when the connection ended within the content,
 * or the reason of an aborted `signal`.
 */
export async function loadContent(path: string, { query, signal, onBytes }: Options = {}): Promise<Blob> {
  const response = await send("GET", path, { ...(query && { query }), signal });
  const reader = response.body!.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      chunks.push(read.value);
      onBytes?.(read.value.length);
    }
  } catch {
    signal?.throwIfAborted();
    throw new ItemVaultError("The download ended early", { kind: "network", status: 0 });
  }
  return new Blob(chunks);
}
