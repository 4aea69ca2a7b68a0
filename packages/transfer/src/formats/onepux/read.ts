import { sourceFault } from "../../error.ts";
import type { ReadOptions } from "../../format.ts";
import { urlsOf } from "../../item-parts.ts";
import type { Transfer, TransferItem, Unfit } from "../../item.ts";
import { type JsonValue, parseJson } from "../../json.ts";
import { lookup } from "../../lookup.ts";
import { Losses } from "../../losses.ts";
import { readApart } from "../../read-apart.ts";
import { decodeText } from "../../text.ts";
import { type Entry, openArchive } from "../../zip.ts";
import { type FieldContext, fileOfEntry, parseContent } from "./fields.ts";
import { parseHistory } from "./history.ts";
import { CATEGORIES } from "./tables.ts";

/** Reads 1Password's 1PUX (support.1password.com/1pux-format): a ZIP archive of `export.attributes`, `export.data` and `files/`. */

interface Source {
  readonly archive: ReadonlyMap<string, Entry>;
  readonly losses: Losses;
  readonly unfit: Unfit[];
  readonly includeTrash: boolean;
}

export async function readOnePux(
  bytes: Uint8Array,
  { includeTrash = false }: Pick<ReadOptions, "includeTrash">,
): Promise<Transfer> {
  const archive = new Map(openArchive(bytes).map((entry) => [entry.name, entry]));
  const content = async (name: string): Promise<string> => {
    const entry = archive.get(name);
    if (!entry) throw sourceFault("The archive", `has no ${name}, so it is no 1PUX file`);
    return decodeText(await entry.read(), name);
  };
  parseJson(await content("export.attributes"), "export.attributes")
    .get("version")
    .number();
  const data = parseJson(await content("export.data"), "export.data");
  // A damaged content is found now, before anything is written; each is read again later, because all at once may not fit into memory.
  for (const [name, entry] of archive) if (name.startsWith("files/")) await entry.read();
  const source: Source = { archive, losses: new Losses(), unfit: [], includeTrash };
  const items = data
    .get("accounts")
    .list()
    .flatMap((account) => readAccount(account, source));
  return { source: "1password", items, losses: source.losses.list(), unfit: source.unfit };
}

function readAccount(account: JsonValue, source: Source): TransferItem[] {
  const id = account.get("attrs").get("uuid").text() ?? "";
  return account
    .get("vaults")
    .list()
    .flatMap((vault) => {
      const attrs = vault.get("attrs");
      const place = { account: id, vault: attrs.get("name").text() || undefined, vaultId: attrs.get("uuid").text() || undefined };
      return vault
        .get("items")
        .list()
        .flatMap((entry) => {
          const title = entry.peek("overview", "title") || entry.peek("item", "overview", "title");
          return readApart(source, { title, path: entry.path }, (losses) => readItem(entry, place, { ...source, losses })) ?? [];
        });
    });
}

const TRASHED = new Set(["trashed", "deleted"]);

interface Place {
  readonly account: string;
  readonly vault: string | undefined;
  readonly vaultId: string | undefined;
}

function readItem(
  entry: JsonValue,
  { account, vault, vaultId }: Place,
  { archive, losses, includeTrash }: Source,
): TransferItem[] {
  // Archives of version 1 and 2 wrap each Item in an object, beside its document in `file`.
  const item = entry.get("item").absent ? entry : entry.get("item");
  const overview = item.get("overview");
  const title = overview.get("title").text() ?? "";
  const state = item.get("state").text() ?? "active";
  if (!includeTrash && (TRASHED.has(state) || [true, "Y"].includes(item.get("trashed").value as string))) {
    losses.add("Items in the trash (--include-trash reads them)", title);
    return [];
  }
  const context: FieldContext = { archive, losses, title, files: [] };
  const details = item.get("details");
  const content = parseContent(details, context);
  addDocument(entry.get("file"), context);
  if (!details.get("passkey").absent) losses.add("passkeys", title);
  const category = lookup(CATEGORIES, item.get("categoryUuid").needText());
  if (!category) losses.add("categories that the service does not have (the Item becomes CUSTOM)", title);
  const [createdAt, updatedAt] = [millisecondsOf(item.get("createdAt")), millisecondsOf(item.get("updatedAt"))];
  const current = {
    title,
    category: category ?? "CUSTOM",
    favorite: (item.get("favIndex").number() ?? 0) > 0,
    tags: overview
      .get("tags")
      .list()
      .map((tag) => tag.needText()),
    urls: readUrls(overview),
    ...content,
  };
  return [
    {
      ...current,
      sourceId: `${account}/${item.get("uuid").needText()}`,
      vault,
      ...(vaultId === undefined ? {} : { vaultId }),
      archived: state === "archived",
      ...(createdAt === undefined ? {} : { createdAt }),
      ...(updatedAt === undefined ? {} : { updatedAt }),
      files: context.files,
      history: parseHistory(details, current, context),
    },
  ];
}

const millisecondsOf = (value: JsonValue): number | undefined => {
  const seconds = value.number();
  return seconds === undefined ? undefined : seconds * 1000;
};

function readUrls(overview: JsonValue): TransferItem["urls"] {
  const urls = overview
    .get("urls")
    .list()
    .map((url) => ({ href: url.get("url").text() ?? "", label: url.get("label").text() ?? "" }));
  const first = overview.get("url").text();
  // `url` is the first of `urls`, where there are any.
  return urlsOf(first && !urls.some(({ href }) => href === first) ? [{ href: first }, ...urls] : urls);
}

/** The document of an Item, as archives of version 1 and 2 have it. */
function addDocument(file: JsonValue, { archive, losses, title, files }: FieldContext): void {
  const path = file.get("path").text();
  if (path === undefined) return;
  const entry = archive.get(path) ?? archive.get(`files/${path}`);
  const name = file.get("attrs").get("name").text() ?? path.replace(/^.*\//s, "").replace(/^.*?__/s, "");
  if (!entry) losses.add("Files that the archive does not contain", title);
  else if (!files.some((other) => other.name === name && other.size === entry.size)) files.push(fileOfEntry(name, entry));
}
