import { bytesOfBase64 } from "../bytes.ts";
import { sourceFault } from "../error.ts";
import type { ImportFormat } from "../format.ts";
import type { TransferField, TransferFile, TransferItem, TransferState, Unfit } from "../item.ts";
import { type JsonValue, parseJson } from "../json.ts";
import { Losses } from "../losses.ts";
import { readApart } from "../read-apart.ts";
import { decodeText, headText } from "../text.ts";

/**
 * Item Vault's own format: a JSON document of Items with their Files in base64 and their earlier states.
 * `{"format": "item-vault", "version": 1, "items": [{"id", "vault", "vaultId", …, "files": [{"name", "section", "content"}], "history": […]}]}`
 */

export const FORMAT = "item-vault";
export const VERSION = 1;

export const itemVaultImport: ImportFormat = {
  name: FORMAT,
  summary: "Item Vault JSON: exported with `export --format item-vault`",
  matches: (head) => /^\s*\{\s*"format"\s*:\s*"item-vault"/.test(headText(head)),
  // Async, so that a fault is a rejection.
  read: async (bytes) => readDocument(parseJson(decodeText(bytes, "The file"), "The file")),
};

function readDocument(document: JsonValue) {
  if (document.get("format").text() !== FORMAT) throw sourceFault("The file", "is no export of Item Vault");
  if (document.get("version").number() !== VERSION)
    throw sourceFault("The file", "is of a version that this program does not know");
  const items = document.get("items");
  if (items.absent) throw items.fault("is missing");
  const unfit: Unfit[] = [];
  const read = items.list().flatMap((item) => {
    const about = { title: item.peek("title"), path: item.path };
    return readApart({ losses: new Losses(), unfit }, about, () => readItem(item)) ?? [];
  });
  return { source: FORMAT, items: read, losses: [], unfit };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function readItem(item: JsonValue): TransferItem {
  const id = item.get("id").text();
  if (id !== undefined && !UUID.test(id)) throw item.get("id").fault("is no UUID");
  const vaultId = item.get("vaultId").text();
  const [createdAt, updatedAt] = [item.get("createdAt").number(), item.get("updatedAt").number()];
  return {
    ...readState(item),
    ...(id === undefined ? {} : { id }),
    sourceId: id ?? item.get("sourceId").text(),
    vault: item.get("vault").text(),
    ...(vaultId === undefined ? {} : { vaultId }),
    archived: item.get("archived").boolean() ?? false,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
    files: item.get("files").list().map(readFile),
    history: item.get("history").list().map(readState),
  };
}

function readState(state: JsonValue): TransferState {
  const [favorite, changedAt] = [state.get("favorite").boolean(), state.get("changedAt").number()];
  return {
    title: state.get("title").needText(),
    category: state.get("category").needText(),
    ...(favorite === undefined ? {} : { favorite }),
    ...(changedAt === undefined ? {} : { changedAt }),
    tags: state
      .get("tags")
      .list()
      .map((tag) => tag.needText()),
    urls: state.get("urls").list().map(readUrl),
    sections: state.get("sections").list().map(readSection),
    fields: state.get("fields").list().map(readField),
  };
}

function readUrl(url: JsonValue): TransferState["urls"][number] {
  const [label, primary] = [url.get("label").text(), url.get("primary").boolean()];
  return {
    href: url.get("href").needText(),
    ...(label === undefined ? {} : { label }),
    ...(primary === undefined ? {} : { primary }),
  };
}

function readSection(section: JsonValue): TransferState["sections"][number] {
  const label = section.get("label").text();
  return { id: section.get("id").needText(), ...(label === undefined ? {} : { label }) };
}

const TEXTS = ["id", "type", "purpose", "label", "value"] as const;

function readField(field: JsonValue): TransferField {
  const texts = TEXTS.flatMap((name) => {
    const text = field.get(name).text();
    return text === undefined ? [] : [[name, text] as const];
  });
  const section = field.get("section");
  return { ...Object.fromEntries(texts), ...(section.absent ? {} : { section: readSection(section) }) };
}

function readFile(file: JsonValue): TransferFile {
  const content = file.get("content").needText();
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) throw file.get("content").fault("is no base64");
  const size = Math.floor((content.length * 3) / 4) - (content.endsWith("==") ? 2 : content.endsWith("=") ? 1 : 0);
  const section = file.get("section").text();
  const read = () => Promise.resolve(bytesOfBase64(content)!);
  return { name: file.get("name").needText(), size, read, ...(section === undefined ? {} : { section }) };
}
