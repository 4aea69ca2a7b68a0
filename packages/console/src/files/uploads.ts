import { signal } from "@preact/signals";
import { LIMITS } from "@item-vault/model/limits";
import { refreshItem } from "../state/written.ts";
import { showToast } from "../state/toasts.ts";
import { quoted } from "../ui/file-names.ts";
import { plural } from "../ui/plural.ts";
import { type NewContent, sendContent, tooLarge } from "./send-content.ts";

/**
 * The uploads of the page, which go on when another Item is opened. They are sent one after the other: each is a write to the
 * same Item, and the connection is not faster with several.
 */

export interface Upload extends NewContent {
  readonly id: number;
  readonly size: number;
  readonly state: "waiting" | "sending" | "failed";
  /** Bytes. */
  readonly sent: number;
  readonly error?: unknown;
}

/** Unfinished uploads, in order. */
export const uploads = signal<readonly Upload[]>([]);

type Target = Pick<NewContent, "vault" | "item"> & { readonly replaces?: { readonly id: string; readonly name: string } };

let last = 0;
let sending: { readonly id: number; readonly controller: AbortController } | undefined;

export function addUploads({ vault, item, replaces }: Target, files: readonly File[]): void {
  const added = files.map((content): Upload => {
    const { size } = content;
    const fault = size > LIMITS.file ? ({ state: "failed", error: tooLarge() } as const) : ({ state: "waiting" } as const);
    const name = replaces?.name ?? content.name;
    return { id: ++last, vault, item, name, replaces: replaces?.id, content, size, key: crypto.randomUUID(), sent: 0, ...fault };
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

/** The browser asks before it leaves the page, because an upload would be lost. */
const onLeave = (event: Event): void => event.preventDefault();

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

/** Returns true if the content is stored. */
async function sendOne(upload: Upload): Promise<boolean> {
  const { id, vault, item } = upload;
  const controller = new AbortController();
  const { signal: stop } = controller;
  sending = { id, controller };
  change(id, { state: "sending" });
  let isDone = false;
  try {
    await sendContent(upload, { signal: stop, onProgress: (sent) => change(id, { sent: Math.min(sent, upload.size) }) });
    isDone = true;
  } catch (error) {
    change(id, { state: "failed", error });
  }
  // An upload that was stopped may have been stored before.
  if (isDone || stop.aborted) await refreshItem(vault, item).catch(() => undefined);
  if (isDone) removeUpload(id);
  sending = undefined;
  return isDone;
}
