import type { ExportFormat } from "../format.ts";
import type { TransferItem, TransferState } from "../item.ts";
import { FORMAT, VERSION } from "./item-vault.ts";

/** Writes Item Vault's own format. */

export const itemVaultExport: ExportFormat = {
  name: FORMAT,
  summary: "Item Vault JSON: the complete backup of what the token can read, with Files and versions",
  write: async (items) => {
    // Item by item, because one text of everything is a second copy of it.
    const parts: Buffer[] = [Buffer.from(`{"format":"${FORMAT}","version":${VERSION},"items":[`)];
    for (const [index, item] of items.entries()) parts.push(Buffer.from((index > 0 ? ",\n" : "\n") + (await presentItem(item))));
    return { bytes: Buffer.concat([...parts, Buffer.from("\n]}\n")]), losses: [] };
  },
};

async function presentItem(whole: TransferItem) {
  const { sourceId, id, vault, vaultId, archived, createdAt, updatedAt, files, history, ...state } = whole;
  const contents = await Promise.all(
    files.map(async ({ name, section, read }) => ({ name, section, content: Buffer.from(await read()).toString("base64") })),
  );
  const item = { id, sourceId: id ? undefined : sourceId, vault, vaultId, archived, createdAt, updatedAt };
  return JSON.stringify({ ...item, ...presentState(state), files: contents, history: history.map(presentState) });
}

const presentState = ({ title, category, favorite, tags, urls, sections, fields, changedAt }: TransferState) => ({
  title,
  category,
  favorite,
  changedAt,
  tags,
  // One order of attributes, so that the same Items give the same bytes.
  urls: urls.map(({ href, label, primary }) => ({ href, label, primary })),
  sections: sections.map(({ id, label }) => ({ id, label })),
  fields: fields.map(({ id, type, purpose, label, value, section }) => ({ id, type, purpose, label, value, section })),
});
