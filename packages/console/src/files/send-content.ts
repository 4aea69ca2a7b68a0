import { ItemVaultError } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { endSession } from "../state/session.ts";
import { formatSize } from "../ui/size.ts";

/** Uploads by XMLHttpRequest, because fetch does not tell how much was sent. */

export interface NewContent {
  readonly vault: string;
  readonly item: string;
  /** The name of a new File. */
  readonly name: string;
  /** The id of the File whose content is replaced. Absent: a new File. */
  readonly replaces?: string | undefined;
  readonly content: Blob;
  /** The same for each attempt, so that a repetition makes no second File (contract 10.9). */
  readonly key: string;
}

export const tooLarge = (): ItemVaultError =>
  new ItemVaultError(`It is larger than ${formatSize(LIMITS.file)}, the limit for files.`, {
    kind: "file_too_large",
    status: 413,
  });

const changed = () =>
  new ItemVaultError("Your browser can’t read this file any more: it was changed or removed. Add it again.", {
    kind: "file_changed",
    status: 400,
  });

/** The write took effect, and later ones have changed the Item (contract 10.16). */
const isStored = (xhr: XMLHttpRequest): boolean =>
  xhr.status === 200 || xhr.getResponseHeader("Item-Vault-Error") === "overtaken";

/** Sends a content. `onProgress` gets the number of bytes sent. Throws an ItemVaultError, or the reason of `signal`. */
export async function sendContent(
  upload: NewContent,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (sent: number) => void },
): Promise<void> {
  const xhr = await request(upload, signal, onProgress);
  signal.throwIfAborted();
  if (isStored(xhr)) return;
  // The page gets the same error when it cannot read the file and when there is no answer.
  if (xhr.status === 0 && !(await isReadable(upload.content))) throw changed();
  if (xhr.status === 401) endSession();
  throw errorOf(xhr);
}

function request(
  { vault, item, name, replaces, content, key }: NewContent,
  signal: AbortSignal,
  onProgress: (sent: number) => void,
): Promise<XMLHttpRequest> {
  const { promise, resolve } = Promise.withResolvers<XMLHttpRequest>();
  const xhr = new XMLHttpRequest();
  const files = `/v1/vaults/${vault}/items/${item}/files`;
  if (replaces === undefined) xhr.open("POST", files);
  else xhr.open("PUT", `${files}/${replaces}/content`);
  xhr.setRequestHeader("Item-Vault-Console", "1");
  xhr.setRequestHeader("Idempotency-Key", key);
  xhr.setRequestHeader("Content-Type", "application/octet-stream");
  // In a header, because URLs are logged and names of Files are encrypted in the service.
  xhr.setRequestHeader("Content-Disposition", `attachment; filename*=UTF-8''${encodeName(name)}`);
  xhr.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
  xhr.addEventListener("loadend", () => resolve(xhr));
  signal.addEventListener("abort", () => xhr.abort(), { once: true });
  xhr.send(content);
  return promise;
}

/** An extended value of a header (RFC 8187 section 3.2.1). */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

const isReadable = (content: Blob): Promise<boolean> =>
  content
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

function errorOf(xhr: XMLHttpRequest): ItemVaultError {
  const { status } = xhr;
  if (status === 413) return tooLarge();
  if (status === 0) return new ItemVaultError("The service did not answer", { kind: "network", status });
  const kind = xhr.getResponseHeader("Item-Vault-Error") ?? "http";
  return new ItemVaultError(messageOf(xhr.responseText) ?? `The server answered ${status}`, { kind, status });
}

function messageOf(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
