import { LIMITS } from "@item-vault/model/limits";
import { sourceFault, TransferError } from "../../error.ts";
import type { ReadOptions } from "../../format.ts";
import type { Transfer, TransferFile, TransferItem, Unfit } from "../../item.ts";
import { type JsonValue, parseJson } from "../../json.ts";
import { Losses, TOO_LARGE } from "../../losses.ts";
import { readApart } from "../../read-apart.ts";
import { decodeText } from "../../text.ts";
import { isArchive, openArchive, type Entry } from "../../zip.ts";
import { readItem } from "./item.ts";
import { unprotect } from "./protect.ts";

const FILE = "The file";

/** The largest data.json that is unpacked. */
const DATA_BYTES_MAX = 256 * 1024 * 1024;

/** Reads an export of Bitwarden: JSON, JSON under a password, or a zip file with attachments. */
export async function readBitwarden(bytes: Uint8Array, options: ReadOptions): Promise<Transfer> {
  const losses = new Losses();
  const entries = isArchive(bytes) ? openArchive(bytes) : undefined;
  const text = decodeText(entries ? await unpackData(entries) : bytes, FILE);
  const document = await openDocument(parseJson(text, FILE), options);
  if (document.get("items").absent) throw document.get("items").fault("is missing: this is no export of Bitwarden");
  const names = readNames(document);
  const attachments = groupAttachments(entries ?? [], losses);
  const seen = new Set<string>();
  const unfit: Unfit[] = [];
  const items = document
    .get("items")
    .list()
    .flatMap((raw): TransferItem[] => {
      const about = { title: raw.peek("name"), path: raw.path };
      const includeTrash = options.includeTrash ?? false;
      const item = readApart({ losses, unfit }, about, (own) => readItem(raw, { names, losses: own, includeTrash }));
      const id = raw.peek("id");
      const files = attachments.get(id) ?? [];
      attachments.delete(id);
      if (!item) return [];
      const sourceId = seen.has(id) ? undefined : item.sourceId;
      seen.add(id);
      return [{ ...item, sourceId, files }];
    });
  for (const files of attachments.values())
    losses.add("attachments of items that the file does not have", undefined, files.length);
  return { source: "bitwarden", items, losses: losses.list(), unfit };
}

async function unpackData(entries: readonly Entry[]): Promise<Uint8Array> {
  const data = entries.find(({ name }) => name === "data.json");
  if (!data) throw sourceFault(FILE, "has no data.json: it is no export of Bitwarden");
  if (data.size > DATA_BYTES_MAX) throw sourceFault("data.json", "is larger than 256 MiB");
  return data.read();
}

const RESTRICTED =
  'Export again with the file type ".json (Encrypted)" and the export type "Password protected", or as plain ".json".';

async function openDocument(document: JsonValue, { password, argon2id }: ReadOptions): Promise<JsonValue> {
  if (document.get("encrypted").boolean() !== true) return document;
  if (document.get("passwordProtected").boolean() !== true) {
    throw new TransferError(`${FILE}: only the Bitwarden account that made this export can open it`, RESTRICTED);
  }
  return parseJson(await unprotect(document, await password(), argon2id), "The protected data");
}

/** The names of folders and collections, by their ids. */
const readNames = (document: JsonValue): ReadonlyMap<string, string> =>
  new Map(
    ["folders", "collections"].flatMap((list) =>
      document
        .get(list)
        .list()
        .map((entry) => [entry.get("id").text() ?? "", entry.get("name").text() ?? ""] as const),
    ),
  );

/** The attachments of each item: `attachments/<id of the item>/<name>`. */
function groupAttachments(entries: readonly Entry[], losses: Losses): Map<string, TransferFile[]> {
  const groups = new Map<string, TransferFile[]>();
  for (const entry of entries) {
    const { name, size } = entry;
    if (name === "data.json" || name.endsWith("/")) continue;
    const [, item, path] = /^attachments\/([^/]+)\/(.+)$/s.exec(name) ?? [];
    if (item && path && size <= LIMITS.file) {
      const file = { name: path.split(/[/\\]/).at(-1) || "attachment", size, read: () => entry.read() };
      groups.set(item, [...(groups.get(item) ?? []), file]);
    } else losses.add(size > LIMITS.file ? TOO_LARGE : "other entries of the zip file");
  }
  return groups;
}
