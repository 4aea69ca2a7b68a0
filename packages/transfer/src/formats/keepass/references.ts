import type { Losses } from "../../losses.ts";
import { stringsOf } from "./state.ts";
import { childOf, childrenOf, textOf, type XmlElement } from "./xml.ts";

/** References to fields of other entries (keepass.info/help/base/fieldrefs.html), for example `{REF:P@I:46C9B1FF…}`. */

const FIELDS: Readonly<Record<string, string>> = { T: "Title", U: "UserName", P: "Password", A: "URL", N: "Notes" };

/** How deep references in referenced values are followed. KeePass has a similar limit. */
const DEPTH_MAX = 10;

/** A value with more references, or one that names a longer value, would grow without bounds. */
const REFERENCES_MAX = 1_000;
const VALUE_CHARACTERS_MAX = 64 * 1024;

/**
 * Makes a function that replaces the references in a value by what they name, as they would be copied by hand: an Item has no
 * references. Those that search for anything but an id, or that name nothing, stay as text and are counted.
 */
export function referenceResolver(top: XmlElement, losses: Losses): (value: string) => string {
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
