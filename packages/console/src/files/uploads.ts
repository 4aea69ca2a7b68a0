import { createClient, ItemVaultError } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { signal } from "@preact/signals";
import { isErrorKind } from "../failures/explain.ts";
import { CONSOLE, withSession } from "../state/client.ts";
import { dispositionOf } from "../state/content.ts";
import { refreshItem } from "../state/opened.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { plural } from "../ui/plural.ts";
import { formatSize } from "../ui/size.ts";
import { quoted } from "../ui/texts.ts";

/** The uploads of the page, which go on when another Item is opened. One is sent at a time: each is a write to the same Item. */

export interface Upload {
  readonly id: number;
  readonly vault: string;
  readonly item: string;
  readonly name: string;
  /** The id of the File whose content is replaced. Absent: a new File. */
  readonly replaces: string | undefined;
  readonly content: File;
  /** The same for each attempt, so that a repetition makes no second File (contract 10.9). */
  readonly key: string;
  readonly state: "waiting" | "sending" | "failed";
  /** Bytes. */
  readonly sent: number;
  readonly error?: unknown;
}

export const uploads = signal<readonly Upload[]>([]);

type Target = Readonly<{ vault: string; item: string; replaces?: { readonly id: string; readonly name: string } }>;

const TOO_LARGE = new ItemVaultError(`It is larger than ${formatSize(LIMITS.file)}, the limit for files.`, {
  kind: "file_too_large",
  status: 413,
});

let last = 0;
let sending: { readonly id: number; readonly controller: AbortController } | undefined;

export function addUploads({ vault, item, replaces }: Target, files: readonly File[]): void {
  const added = files.map((content): Upload => {
    const fault = content.size > LIMITS.file ? ({ state: "failed", error: TOO_LARGE } as const) : ({ state: "waiting" } as const);
    const name = replaces?.name ?? content.name;
    return { id: ++last, vault, item, name, replaces: replaces?.id, content, key: crypto.randomUUID(), sent: 0, ...fault };
  });
  uploads.value = [...uploads.value, ...added];
  void sendAll();
}

/** Stops an upload, or removes one that has failed. */
export function removeUpload(id: number): void {
  if (sending?.id === id) sending.controller.abort();
  uploads.value = uploads.value.filter((upload) => upload.id !== id);
}

export function retryUpload(id: number): void {
  change(id, { state: "waiting", sent: 0, error: undefined });
  void sendAll();
}

const change = (id: number, attributes: Partial<Upload>): void => {
  uploads.value = uploads.value.map((upload) => (upload.id === id ? { ...upload, ...attributes } : upload));
};

/** The browser asks before it leaves the page, because an upload would be lost. Without a session the page is being dropped. */
const onLeave = (event: Event): void => {
  if (session.value) event.preventDefault();
};

async function sendAll(): Promise<void> {
  if (sending) return;
  addEventListener("beforeunload", onLeave);
  const stored: Upload[] = [];
  for (let next = firstWaiting(); next; next = firstWaiting()) if (await sendOne(next)) stored.push(next);
  removeEventListener("beforeunload", onLeave);
  const [first, ...others] = stored;
  if (!first) return;
  const what = others.length === 0 ? quoted(first.name) : plural(stored.length, "file");
  showToast(`${what} ${first.replaces === undefined ? "added" : "replaced"}.`);
}

const firstWaiting = (): Upload | undefined => uploads.value.find(({ state }) => state === "waiting");

async function sendOne(upload: Upload): Promise<boolean> {
  const { id, vault, item } = upload;
  const controller = new AbortController();
  sending = { id, controller };
  change(id, { state: "sending" });
  let isStored = false;
  try {
    await withSession(() => sendContent(upload, controller.signal));
    isStored = true;
  } catch (error) {
    // Then later writes have changed the Item (contract 10.16).
    isStored = isErrorKind(error, "overtaken");
    if (!isStored) change(id, { state: "failed", error });
  }
  // An upload that was stopped may have been stored before.
  if (isStored || controller.signal.aborted) await refreshItem(vault, item).catch(() => undefined);
  if (isStored) removeUpload(id);
  sending = undefined;
  return isStored;
}

/** Sends a content. Throws an ItemVaultError, or the reason of the aborted signal. */
async function sendContent({ id, vault, item, name, replaces, content, key }: Upload, stop: AbortSignal): Promise<void> {
  const onProgress = (sent: number) => change(id, { sent: Math.min(sent, content.size) });
  const { send } = createClient({ ...CONSOLE, attempts: 1, fetch: fetchWithProgress(onProgress) });
  const files = `/v1/vaults/${vault}/items/${item}/files`;
  const headers = {
    "Idempotency-Key": key,
    "Content-Type": "application/octet-stream",
    "Content-Disposition": dispositionOf(name),
  };
  const options = { headers, body: content, signal: stop };
  await (replaces === undefined ? send("POST", files, options) : send("PUT", `${files}/${replaces}/content`, options));
}

/** Returns a fetch by XMLHttpRequest, because the browser's own fetch does not report the progress of the upload. */
const fetchWithProgress =
  (onProgress: (sent: number) => void) =>
  async (url: RequestInfo | URL, init: RequestInit = {}) => {
    init.signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const xhr = new XMLHttpRequest();
    xhr.open(init.method!, url as string);
    for (const [name, value] of Object.entries(init.headers as Record<string, string>)) xhr.setRequestHeader(name, value);
    xhr.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
    xhr.addEventListener("loadend", resolve);
    init.signal!.addEventListener("abort", () => xhr.abort(), { once: true });
    xhr.send(init.body as Blob);
    await promise;
    if (xhr.status === 0) throw new TypeError("No answer");
    const headers = xhr.getAllResponseHeaders().split("\r\n").filter(Boolean);
    return new Response(xhr.responseText, {
      status: xhr.status,
      headers: headers.map((line) => line.split(/:\s*(.*)/s, 2) as [string, string]),
    });
  };
