import { Losses } from "../../losses.ts";
import type { ReadOptions } from "../../format.ts";
import type { Transfer, TransferItem } from "../../item.ts";
import { sourceFault } from "../../error.ts";
import { readEntry, type Source } from "./entry.ts";
import { openDatabase } from "./open.ts";
import { referenceResolver } from "./references.ts";
import { childOf, childrenOf, textOf, type XmlElement } from "./xml.ts";

/** Reads a KeePass database. The groups of an entry become one tag, `Internet/Mail`. */
export async function readKeePass(bytes: Uint8Array, options: ReadOptions): Promise<Transfer> {
  const database = await openDatabase(bytes, options).catch((error: unknown) => {
    if (error instanceof RangeError) throw sourceFault("The file", "is damaged or cut off");
    throw error;
  });
  const { root } = database;
  const [meta, top] = [childOf(root, "Meta"), childOf(childOf(root, "Root"), "Group")];
  if (!top) throw sourceFault("The file", "has no groups");
  const losses = new Losses();
  const seen = new Set<string>();
  const source: Source = {
    database,
    losses,
    resolve: referenceResolver(top, losses),
    isNew: (id) => !seen.has(id) && Boolean(seen.add(id)),
  };
  const bin = textOf(childOf(meta, "RecycleBinEnabled")).toLowerCase() === "false" ? "" : textOf(childOf(meta, "RecycleBinUUID"));
  const items: TransferItem[] = [];
  const visit = (group: XmlElement, names: readonly string[]): void => {
    if (bin !== "" && textOf(childOf(group, "UUID")) === bin && !options.includeTrash) {
      losses.add("Items in the trash (--include-trash reads them)", undefined, entriesIn(group));
      return;
    }
    if (textOf(childOf(group, "Notes")) !== "") losses.add("notes of groups", textOf(childOf(group, "Name")));
    if (entriesIn(group) === 0 && group !== top) losses.add("groups without entries", textOf(childOf(group, "Name")));
    const tags = names.length > 0 ? [names.join("/")] : [];
    items.push(...childrenOf(group, "Entry").map((entry) => readEntry(entry, tags, source)));
    for (const child of childrenOf(group, "Group")) visit(child, [...names, textOf(childOf(child, "Name"))]);
  };
  visit(top, []);
  return { source: "keepass", items, losses: losses.list() };
}

const entriesIn = (group: XmlElement): number =>
  childrenOf(group, "Group").reduce((sum, child) => sum + entriesIn(child), childrenOf(group, "Entry").length);
