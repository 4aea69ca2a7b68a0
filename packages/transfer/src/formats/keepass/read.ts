import { sourceFault } from "../../error.ts";
import type { ReadOptions } from "../../format.ts";
import type { Transfer, TransferItem } from "../../item.ts";
import { Losses } from "../../losses.ts";
import { readEntry, type Source } from "./entry.ts";
import { openDatabase } from "./open.ts";
import { stringsOf } from "./state.ts";
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

/** References to fields of other entries (keepass.info/help/base/fieldrefs.html), for example `{REF:P@I:46C9B1FF…}`. */

const FIELDS: Readonly<Record<string, string>> = { T: "Title", U: "UserName", P: "Password", A: "URL", N: "Notes" };

/** Depth to which references in referenced values are followed. KeePass has a similar limit. */
const DEPTH_MAX = 10;

/** A value with more references, or one that names a longer value, would grow without bounds. */
const REFERENCES_MAX = 1_000;
const VALUE_CHARACTERS_MAX = 64 * 1024;

/**
 * Returns a function that replaces references in a value with the referenced values, as copying by hand would: an Item has no references.
 * References by other keys than an id, or to nothing, stay as text and are counted.
 */
function referenceResolver(top: XmlElement, losses: Losses): (value: string) => string {
  const entries = new Map(entriesOf(top).map((entry) => [idOf(entry), entry]));
  let left = 0;
  const resolve = (value: string, depth: number): string =>
    value.replaceAll(/\{REF:(\w)@(\w):([^{}]*)\}/gi, (reference, field: string, by: string, text: string) => {
      const entry = by.toUpperCase() === "I" ? entries.get(text.toLowerCase()) : undefined;
      const name = FIELDS[field.toUpperCase()];
      const named = entry && name && depth < DEPTH_MAX && left-- > 0 ? (stringsOf(entry).get(name)?.value ?? "") : undefined;
      const found = named !== undefined && named.length <= VALUE_CHARACTERS_MAX ? named : undefined;
      losses.add(`references to other entries (${found === undefined ? "kept as text" : "replaced by a copy of the value"})`);
      return found === undefined ? reference : resolve(found, depth + 1);
    });
  return (value) => {
    left = REFERENCES_MAX;
    return resolve(value, 0);
  };
}

const idOf = (entry: XmlElement) => Buffer.from(textOf(childOf(entry, "UUID")), "base64").toString("hex");

const entriesOf = (group: XmlElement): XmlElement[] => [
  ...childrenOf(group, "Entry"),
  ...childrenOf(group, "Group").flatMap(entriesOf),
];
