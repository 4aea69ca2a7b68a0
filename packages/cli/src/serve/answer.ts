import type { File, Item } from "@item-vault/client";
import { parseFilter, passingVaults, type Filter, idsOf, itemPasses, titleOf } from "@item-vault/model/filter";
import { parseId } from "@item-vault/model/ids";
import { type Query, parseBoolean, parseQuery } from "@item-vault/model/query";
import { type Copy, type HeldItem, type HeldVault, isComplete, openContent, openItem, sortedItems } from "./copy.ts";
import { answerReferences } from "./references.ts";
import { type Answer, isUnmodified, INLINE_BYTES_MAX, json, type LocalRequest, notModified } from "./request.ts";

/**
 * The answers of the copy: reads for which it has all data, with status, headers and body as the service would send them. Every other
 * request, and every request that the service would refuse, has no answer here and is passed on.
 */

interface Asked {
  readonly copy: Copy;
  readonly request: LocalRequest;
  readonly query: Query;
}

/** A request to a part of a vault that the copy has. */
interface AskedOfVault extends Asked {
  readonly vault: HeldVault;
}

interface AskedOfItem extends AskedOfVault {
  readonly item: HeldItem;
}

type Answered = Answer | undefined;

const VAULT = "/v1/vaults/([^/]+)";
const ITEM = `${VAULT}/items/([^/]+)`;
const FILE = `${ITEM}/files/([^/]+)`;

const whole = (path: string): RegExp => new RegExp(`^${path}$`);

const ofVault =
  (answer: (asked: AskedOfVault, ...rest: readonly string[]) => Answered) =>
  (asked: Asked, [id = "", ...rest]: readonly string[]): Answered => {
    const vault = asked.copy.vaults.get(parseId(id) ?? "");
    return vault && answer({ ...asked, vault }, ...rest);
  };

const ofItem = (answer: (asked: AskedOfItem, file: string) => Answered) =>
  ofVault((asked, id = "", file = "") => {
    const item = asked.vault.items.get(parseId(id) ?? "");
    return item && answer({ ...asked, item }, file);
  });

interface Read {
  readonly path: RegExp;
  /** The query parameters that the copy knows. A request with an unknown one is passed on, because a later release may define it. */
  readonly knows: readonly string[];
  readonly answer: (asked: Asked, ids: readonly string[]) => Answered;
}

const INLINE = ["inline_files", "inline_content"];

const READS: readonly Read[] = [
  { path: whole("/v1/vaults"), knows: ["filter"], answer: answerVaults },
  { path: whole(VAULT), knows: [], answer: ofVault(({ vault }) => json(JSON.stringify(vault.row), { vaults: [vault] })) },
  { path: whole(`${VAULT}/items`), knows: ["filter", "archived"], answer: ofVault(answerList) },
  { path: whole(ITEM), knows: [], answer: ofItem(answerItem) },
  { path: whole(`${ITEM}/files`), knows: INLINE, answer: ofItem(answerFiles) },
  { path: whole(FILE), knows: INLINE, answer: ofItem(answerFile) },
  { path: whole(`${FILE}/content`), knows: [], answer: ofItem(answerContent) },
];

const namesOf = ({ filter, rest }: Query): readonly string[] => [...rest.keys(), ...(filter === undefined ? [] : ["filter"])];

/** Returns undefined if the copy cannot answer as the service would. */
export function answerFrom(copy: Copy, request: LocalRequest): Answered {
  const query = parseQuery(request.search);
  const names = namesOf(query);
  if (request.method === "POST")
    return request.path === "/v1/resolve" && names.length === 0 ? answerReferences(copy, request) : undefined;
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  for (const { path, knows, answer } of READS) {
    const match = path.exec(request.path);
    if (match) return names.every((name) => knows.includes(name)) ? answer({ copy, request, query }, match.slice(1)) : undefined;
  }
  return undefined;
}

/** Without all vaults of the token, an empty list would say more than the copy knows. */
function answerVaults({ copy, query }: Asked): Answered {
  const readings = parseFilter(query.filter, "vaults");
  if (!readings.ok) return undefined;
  const named = [...copy.vaults.values()].map((vault) => ({ id: vault.id, name: vault.row.name, vault }));
  const passing = passingVaults(readings.value, named);
  if (named.length === 0 || (passing.length === 0 && !copy.isWhole)) return undefined;
  return json(`[${passing.map(({ vault }) => JSON.stringify(vault.row)).join()}]`, { vaults: [...copy.vaults.values()] });
}

function answerList({ vault, query }: AskedOfVault): Answered {
  if (!isComplete(vault)) return undefined;
  const archived = parseBoolean(query.rest, "archived");
  const readings = parseFilter(query.filter, "items");
  if (!archived.ok || !readings.ok) return undefined;
  return json(`[${passingItems(vault, readings.value, archived.value).join()}]`, { vaults: [vault] });
}

function answerItem({ copy, vault, item, request }: AskedOfItem): Answered {
  const rest = { vaults: [vault], items: [item.id] };
  const headers = { ETag: item.etag };
  // An Item with a broken File gets no 304 (contract 10.4).
  if (isUnmodified(request, item.etag) && !vault.broken.has(item.id)) return notModified(headers, rest);
  const opened = openItem(copy, vault, item);
  return json(JSON.stringify(opened), { ...rest, headers: { ...headers, ...brokenHeader(opened) } });
}

/** Returns the header that counts broken Files (contract 9.14). */
const brokenHeader = ({ brokenFiles }: Item): Record<string, string> =>
  brokenFiles ? { "Item-Vault-Broken": String(brokenFiles.length) } : {};

/**
 * Returns the Files, with their contents if the request asks for them. Returns undefined if the copy lacks a content, or if one is too large.
 */
function inlined(asked: AskedOfItem, files: readonly File[]): readonly File[] | undefined {
  const wanted = parseBoolean(asked.query.rest, "inline_files", "inline_content");
  if (!wanted.ok) return undefined;
  if (!wanted.value) return files;
  const bytes = files.map(({ id, size }) => (size > INLINE_BYTES_MAX.file ? undefined : contentOf(asked, parseId(id)!)?.bytes()));
  const sum = files.reduce((total, { size }) => total + size, 0);
  if (sum > INLINE_BYTES_MAX.answer || bytes.includes(undefined)) return undefined;
  return files.map((file, index) => ({ ...file, content: bytes[index]!.toString("base64") }));
}

function answerFiles(asked: AskedOfItem): Answered {
  const { copy, vault, item } = asked;
  const opened = openItem(copy, vault, item);
  const files = inlined(asked, opened.files);
  return files && json(JSON.stringify(files), { headers: brokenHeader(opened), vaults: [vault], items: [item.id] });
}

function answerFile(asked: AskedOfItem, id: string): Answered {
  const found = filesOf(asked).filter((file) => parseId(file.id) === parseId(id));
  const [file] = inlined(asked, found) ?? [];
  return file && json(JSON.stringify(file), { vaults: [asked.vault], items: [asked.item.id] });
}

const filesOf = ({ copy, vault, item }: AskedOfItem): Item["files"] => openItem(copy, vault, item).files;

function contentOf({ copy, vault, item }: AskedOfItem, id: string) {
  const content = item.contents.get(id);
  return content && { ...content, bytes: () => openContent(copy, [vault.id, item.id, id], content) };
}

/** Parts of a content, and the contents of earlier versions, are the service's. */
function answerContent(asked: AskedOfItem, id: string): Answered {
  const { request, vault, item } = asked;
  const content = contentOf(asked, parseId(id) ?? "");
  if (!content || request.headers["range"] !== undefined) return undefined;
  const headers = {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": content.disposition,
    "Accept-Ranges": "bytes",
    ETag: content.etag,
  };
  const rest = { headers, vaults: [vault], items: [item.id] };
  return isUnmodified(request, content.etag) ? notModified(headers, rest) : { status: 200, body: content.bytes(), ...rest };
}

/** Lists of Items (contract 5, 11.1, 14.15). */

/** Returns the JSON texts of the summaries that pass. `readings` are the readings of the filter, the preferred one first. */
function passingItems(vault: HeldVault, readings: readonly Filter[], archived: boolean): string[] {
  const listed = sortedItems(vault).filter(({ summary }) => archived || summary.state !== "ARCHIVED");
  const ids = idsOf(readings);
  const chosen = chooseReadings(listed, readings);
  return listed.filter((item) => (ids ? ids.includes(item.id) : itemPasses(chosen, item.summary))).map(({ text }) => text);
}

/** Returns the readings of the first title that an Item has, else those of the last title (contract 5.6, 5.9). */
function chooseReadings(items: readonly HeldItem[], readings: readonly Filter[]): readonly Filter[] {
  const title = titleOf(readings[0]!);
  const others = readings.filter((reading) => titleOf(reading) !== title);
  if (others.length === 0) return readings;
  return items.some(({ summary }) => summary.title === title)
    ? readings.filter((reading) => titleOf(reading) === title)
    : chooseReadings(items, others);
}
