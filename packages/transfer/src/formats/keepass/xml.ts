import { sourceFault } from "../../error.ts";
import { lookup } from "../../lookup.ts";

/**
 * A parser for the XML 1.0 that KeePass writes: elements, attributes, text, CDATA, comments and processing instructions. A document
 * type is refused, so there are no entities but the five of XML.
 */

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  /** The text directly in the element. */
  text: string;
}

const DEPTH_MAX = 256;

/** Returns the root element. Throws a TransferError with the line of the fault. */
export function parseXml(text: string, path: string): XmlElement {
  const root: XmlElement = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  const fault = (what: string, at: number) => sourceFault(`${path}, line ${text.slice(0, at).split("\n").length}`, what);
  for (let at = 0; at < text.length;) {
    const parent = open.at(-1)!;
    const next = text.indexOf("<", at);
    const until = next === -1 ? text.length : next;
    if (until > at) parent.text += decode(text.slice(at, until), (what) => fault(what, at));
    if (next === -1) break;
    const special = SPECIAL.find(({ start }) => text.startsWith(start, next));
    const end = text.indexOf(special?.end ?? ">", next + (special?.start.length ?? 1));
    if (end === -1) throw fault("ends too early", text.length);
    at = end + (special?.end.length ?? 1);
    if (special) {
      if (special.refusal) throw fault(special.refusal, next);
      if (special.isText) parent.text += normalized(text.slice(next + special.start.length, end));
    } else if (text[next + 1] === "/") {
      if (open.length === 1 || text.slice(next + 2, end).trim() !== parent.name) throw fault("closes another element", next);
      open.pop();
    } else {
      const element = parseTag(text.slice(next + 1, end), (what) => fault(what, next));
      parent.children.push(element);
      if (text[end - 1] !== "/") open.push(element);
      if (open.length > DEPTH_MAX) throw fault(`nests deeper than ${DEPTH_MAX} elements`, next);
    }
  }
  const [first, ...others] = root.children;
  if (open.length > 1) throw fault("ends too early", text.length);
  if (!first || others.length > 0 || root.text.trim() !== "") throw fault("has not exactly one root element", text.length);
  return first;
}

interface Special {
  readonly start: string;
  readonly end: string;
  readonly isText?: true;
  readonly refusal?: string;
}

const SPECIAL: readonly Special[] = [
  { start: "<!--", end: "-->" },
  { start: "<![CDATA[", end: "]]>", isText: true },
  { start: "<?", end: "?>" },
  { start: "<!", end: ">", refusal: "has a document type, which is not read" },
];

type Fault = (what: string) => Error;

function parseTag(content: string, fault: Fault): XmlElement {
  const [, name, rest] = /^([^\s/<>="']+)((?:\s+[^\s=]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?$/.exec(content) ?? [];
  if (name === undefined) throw fault("is no tag of XML");
  const attributes = [...rest!.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)];
  const entries = attributes.map(([, key, double, single]) => [key, decode(double ?? single ?? "", fault)] as const);
  return { name, attributes: Object.fromEntries(entries), children: [], text: "" };
}

/** Line ends of a text become line feeds (XML 1.0 section 2.11). */
const normalized = (text: string): string => (text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text);

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decode(text: string, fault: Fault): string {
  if (!text.includes("&")) return normalized(text);
  return normalized(text).replaceAll(/&([^;&]{0,12};?)/g, (_, reference: string) => {
    const [, hex, decimal, name] = /^(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));$/i.exec(reference) ?? [];
    const code = hex ? Number.parseInt(hex, 16) : decimal ? Number(decimal) : undefined;
    const character = code === undefined ? lookup(ENTITIES, name ?? "") : characterOf(code);
    if (character === undefined) throw fault("has an unknown entity");
    return character;
  });
}

const characterOf = (code: number): string | undefined => (code > 0x10ffff ? undefined : String.fromCodePoint(code));

export const childOf = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

export const childrenOf = (element: XmlElement | undefined, name: string): XmlElement[] =>
  element?.children.filter((child) => child.name === name) ?? [];

export const textOf = (element: XmlElement | undefined): string => element?.text ?? "";
