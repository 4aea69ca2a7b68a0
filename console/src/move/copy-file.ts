import { type File, ItemVaultError } from "@item-vault/client";
import { call } from "../api/client.ts";
import { loadContent } from "../api/content.ts";
import type { Progress, Transfer } from "./transfer.ts";

/**
 * Copies a File with its content. The service compares the content with its SHA-256 before the copy exists (contract 9.5), and a repeated
 * upload with the same key makes no second one (contract 10.9). Errors: throws an ItemVaultError, or the reason of the aborted signal.
 */
export async function copyFile({ source, target, id, keys }: Transfer, file: File, progress: Progress): Promise<void> {
  const { signal, onBytes, onFile } = progress;
  const { version } = source.item;
  onFile(file.name);
  let loaded = 0;
  const count = (bytes: number) => {
    loaded += bytes;
    onBytes(bytes);
  };
  try {
    const content = await loadContent(source.item, file, { version, signal, onBytes: count });
    if (content.size !== file.size) throw new ItemVaultError("The download ended early", { kind: "network", status: 0 });
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await content.arrayBuffer()));
    await call("POST /v1/vaults/{vault}/items/{item}/files", {
      path: { vault: target, item: id },
      query: { name: file.name, ...(file.section && { section: file.section.id }) },
      headers: { "Content-Digest": `sha-256=:${base64(digest)}:`, "Idempotency-Key": keys.get(file.id)! },
      body: content,
      signal,
    });
  } catch (error) {
    onBytes(-loaded);
    throw error;
  }
  onBytes(file.size);
}

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
