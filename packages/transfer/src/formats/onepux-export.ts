import { createHash } from "node:crypto";
import { base32, parseId, shortId } from "@item-vault/model/ids";
import type { Zippable } from "fflate";
import type { ExportFormat } from "../format.ts";
import type { TransferFile, TransferItem } from "../item.ts";
import { lookup } from "../lookup.ts";
import { Losses } from "../losses.ts";
import { passwordOf } from "./onepux/history.ts";
import { presentContent, type StoredFile } from "./onepux/present.ts";
import { CATEGORY_IDS } from "./onepux/tables.ts";

/** Writes 1PUX. The same Items give the same bytes. */

export const onePuxExport: ExportFormat = {
  name: "1pux",
  summary: "1Password (1PUX), with files and earlier passwords",
  write: async (items) => {
    const losses = new Losses();
    const files: Zippable = {};
    const vaults = await Promise.all(byVault(items).map(async (inside) => await presentVault(inside, { files, losses })));
    const attrs = {
      accountName: "Item Vault",
      name: "Item Vault",
      avatar: "",
      email: "",
      uuid: hashedId("account", ""),
      domain: "",
    };
    const entries: Zippable = {
      "export.attributes": jsonBytes({ version: 3, description: "1Password Unencrypted Export", createdAt: 0 }),
      "export.data": jsonBytes({ accounts: [{ attrs, vaults }] }),
      ...Object.fromEntries(Object.entries(files).toSorted(([one], [other]) => (one < other ? -1 : 1))),
    };
    const { zipSync } = await import("fflate");
    return { bytes: zipSync(entries, { level: 6, mtime: new Date(1980, 0, 1) }), losses: losses.list() };
  },
};

const jsonBytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

function byVault(items: readonly TransferItem[]): TransferItem[][] {
  const vaults = new Map<string, TransferItem[]>();
  for (const item of items) {
    const key = JSON.stringify([item.vault, item.vaultId]);
    vaults.set(key, [...(vaults.get(key) ?? []), item]);
  }
  return [...vaults.values()];
}

interface Target {
  /** The entries of `files/`. */
  readonly files: Zippable;
  readonly losses: Losses;
}

async function presentVault(items: readonly TransferItem[], target: Target): Promise<object> {
  const { vault: name = "", vaultId } = items[0]!;
  const uuid = vaultId === undefined ? hashedId("vault", name) : formOf(vaultId);
  const presented: object[] = [];
  for (const [index, item] of items.entries()) presented.push(await presentItem(item, `${uuid}/${index}`, target));
  return { attrs: { uuid, desc: "", avatar: "", name, type: "U" }, items: presented };
}

async function presentItem(item: TransferItem, path: string, { files, losses }: Target): Promise<object> {
  const uuid = idOf(item, path);
  const categoryUuid = lookup(CATEGORY_IDS, item.category);
  if (!categoryUuid) losses.add("categories that 1Password does not have (the Item becomes a secure note)", item.title);
  const [main, ...others] = item.urls.toSorted((one, other) => Number(other.primary ?? false) - Number(one.primary ?? false));
  const urls = [main ?? [], others].flat();
  const stored: StoredFile[] = [];
  for (const file of item.files) stored.push(await storeFile(file, uuid, files));
  return {
    uuid,
    favIndex: item.favorite ? 1 : 0,
    createdAt: secondsOf(item.createdAt),
    updatedAt: secondsOf(item.updatedAt),
    state: item.archived ? "archived" : "active",
    categoryUuid: categoryUuid ?? CATEGORY_IDS["SECURE_NOTE"],
    details: { ...presentContent(item, stored, losses), passwordHistory: presentHistory(item, losses) },
    overview: {
      subtitle: "",
      ...(urls.length > 0 ? { urls: urls.map(({ href, label = "" }) => ({ label, url: href, mode: "default" })) } : {}),
      title: item.title,
      url: main?.href ?? "",
      tags: item.tags,
    },
  };
}

/** Puts a File into the archive. Its id is derived from its properties, because Files are ordered by section. */
async function storeFile({ name, section, size, read }: TransferFile, item: string, files: Zippable): Promise<StoredFile> {
  const content = await read();
  const digest = createHash("sha256").update(content).digest("hex");
  for (let copy = 0; ; copy++) {
    const documentId = hashedId("file", JSON.stringify([item, name, section, digest, copy]));
    const path = `files/${documentId}__${name.replaceAll(/[/\\\p{Cc}]/gu, "_")}`;
    if (Object.hasOwn(files, path)) continue;
    files[path] = [content, { level: 0 }];
    return { section, attributes: { fileName: name, documentId, decryptedSize: size } };
  }
}

const secondsOf = (milliseconds = 0): number => Math.floor(milliseconds / 1000);

/** Returns the passwords of earlier states that differ from a later state's. */
function presentHistory(item: TransferItem, losses: Losses): object[] {
  const states = [...item.history, item];
  const entries = item.history.flatMap((state, index) => {
    const [value, next] = [passwordOf(state.fields)?.value ?? "", states[index + 1]!];
    if (differsBeyondPassword(state, next)) losses.add("earlier versions, of which 1PUX has the passwords only", item.title);
    const time = secondsOf(state.changedAt);
    return value === "" || value === passwordOf(next.fields)?.value ? [] : [{ value, time }];
  });
  return entries;
}

function differsBeyondPassword(one: TransferItem["history"][number], other: TransferItem["history"][number]): boolean {
  const text = ({ title, category, favorite, tags, urls, sections, fields }: typeof one) => {
    const password = passwordOf(fields);
    const rest = fields.map((field) => (field === password ? Object.assign({}, field, { value: "" }) : field));
    return JSON.stringify([title, category, favorite, tags, urls, sections, rest]);
  };
  return text(one) !== text(other);
}

/** Returns an id in 1Password's form. `path` identifies an Item without an id. */
function idOf({ id, sourceId }: TransferItem, path: string): string {
  return formOf(id ?? sourceId?.replace(/^.*\//s, "") ?? "") || hashedId("item", path);
}

/** 1Password's form of an id that is a UUID in one of its forms; any other id as it is. */
function formOf(id: string): string {
  const uuid = parseId(id);
  return uuid?.length === 36 ? shortId(uuid) : id;
}

const hashedId = (kind: string, text: string): string =>
  base32(
    createHash("sha256")
      .update(JSON.stringify([kind, text]))
      .digest()
      .subarray(0, 16),
  );
