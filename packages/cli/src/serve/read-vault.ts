import { isDeepStrictEqual } from "node:util";
import { type Client, entriesOf, type Item, ItemVaultError } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { LIMITS } from "@item-vault/model/limits";
import { malformed } from "./attempts.ts";
import {
  type Copy,
  dropItem,
  type HeldContent,
  type HeldItem,
  type HeldVault,
  holdItem,
  type ItemParts,
  openItem,
  sealContent,
} from "./copy.ts";
import type { Pace } from "./pace.ts";

/** Reads Items from the service into the copy. What the copy has already is asked for by its entity tag, and answered by a 304. */

export interface Reading {
  readonly client: Client;
  readonly pace: Pace;
  readonly copy: Copy;
  /** Bytes: the content of a larger File is not held. */
  readonly fileBytesMax: number;
  readonly signal: AbortSignal;
}

/** Concurrent reads in all vaults. */
export const CONCURRENT_READS = 8;
/** A token has 200 requests in a second (docs/limits.md). A quarter of them is for its other clients. */
export const READS_PER_SECOND = 150;
/** Stands in `broken` for Items whose ids the list lacks: the dialect `connect` leaves them out (contract 11.10). */
const UNLISTED = "unlisted";

/**
 * Reads all Items of a vault, and drops deleted ones. `read` has the ids of Items already read, and gets each further one. Throws an
 * ItemVaultError.
 */
export async function readAllItems(reading: Reading, vault: HeldVault, read = new Set<string>()): Promise<void> {
  const listing = await listItems(reading, vault);
  const { listed } = listing;
  const missing = [...listed].filter((id) => !read.has(id));
  await forEachOf(missing, async (id) => {
    await readItem(reading, vault, id);
    read.add(id);
  });
  for (const id of vault.items.keys()) if (!listed.has(id)) dropItem(reading.copy, vault, id);
  forgetBroken(vault, listing);
}

/** Reads the Items that the service could not decrypt before, if it can now. Throws an ItemVaultError. */
export async function readBrokenItems(reading: Reading, vault: HeldVault): Promise<void> {
  const listing = await listItems(reading, vault);
  await readItems(
    reading,
    vault,
    [...listing.listed].filter((id) => !vault.items.has(id) || vault.broken.has(id)),
  );
  forgetBroken(vault, listing);
}

interface Listing {
  /** The ids of the Items. */
  readonly listed: ReadonlySet<string>;
  readonly hasUnlisted: boolean;
}

async function listItems({ client, signal }: Reading, vault: HeldVault): Promise<Listing> {
  const query = { archived: true, limit: LIMITS.page };
  const listed = new Set<string>();
  let hasUnlisted = false;
  const countBroken = (headers: Headers) => void (hasUnlisted ||= headers.has("Item-Vault-Broken"));
  const options = { path: { vault: vault.id }, query, signal };
  for await (const { id } of entriesOf(client, "GET /v1/vaults/{vault}/items", options, countBroken)) listed.add(idOf(id));
  if (hasUnlisted) vault.broken.add(UNLISTED);
  return { listed, hasUnlisted };
}

/** Called when everything listed was read. Until then the copy still answers, and its lists would lack these Items. */
function forgetBroken({ broken }: HeldVault, { listed, hasUnlisted }: Listing): void {
  for (const id of broken) if (!listed.has(id) && !(id === UNLISTED && hasUnlisted)) broken.delete(id);
}

/** Reads Items of a vault by their ids. Throws an ItemVaultError. */
export const readItems = (reading: Reading, vault: HeldVault, ids: Iterable<string>): Promise<void> =>
  forEachOf(ids, (id) => readItem(reading, vault, id));

/**
 * Runs a function for each value, a few at a time. After a failure no further one begins, and running ones are awaited: the next attempt
 * would request the same again. Throws the first failure.
 */
async function forEachOf(values: Iterable<string>, run: (value: string) => Promise<void>): Promise<void> {
  // A generator: the failing loop closes it for all loops.
  const queue = (function* () {
    yield* values;
  })();
  const work = async () => {
    for (const value of queue) await run(value);
  };
  const ends = await Promise.allSettled(Array.from({ length: CONCURRENT_READS }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Requests data that may have changed. `etag` is the entity tag of the held data. */
const readAt = ({ client, pace, signal }: Reading, path: string, etag: string | undefined): Promise<Response> =>
  pace.inTurn(() => client.send("GET", path, { headers: { "If-None-Match": etag }, signal }));

async function readItem(reading: Reading, vault: HeldVault, id: string): Promise<void> {
  const { copy } = reading;
  const held = vault.items.get(id);
  try {
    const etagOfWhole = vault.broken.has(id) ? undefined : held?.etag;
    const answer = await readAt(reading, `/v1/vaults/${vault.id}/items/${id}`, etagOfWhole);
    if (answer.status === 304) return;
    const [etag, json] = [answer.headers.get("ETag"), await textOf(answer)];
    const item = parseItem(json, id);
    if (etag === null || !item) throw malformed();
    const contents = await readContents(reading, vault, item, held);
    const parts = { id, etag, contents };
    // Held data is not replaced by equal data: the whole copy would be saved again.
    if (!isHeld(reading, vault, parts, item)) holdItem(copy, vault, parts, json);
    // Its tag does not change when the File becomes readable, so it is read again like a broken Item.
    if (item.brokenFiles) vault.broken.add(id);
    else vault.broken.delete(id);
  } catch (error) {
    const kind = error instanceof ItemVaultError ? error.kind : undefined;
    if (kind !== "item_not_found" && kind !== "integrity") throw error;
    dropItem(copy, vault, id);
    if (kind === "integrity") vault.broken.add(id);
    else vault.broken.delete(id);
  }
}

/** Returns true if an Item is held as it was read now. With the same entity tag only its damaged Files and the contents can differ. */
function isHeld({ copy }: Reading, vault: HeldVault, { id, etag, contents }: ItemParts, { brokenFiles }: Item): boolean {
  const held = vault.items.get(id);
  if (held?.etag !== etag || !isDeepStrictEqual(held.contents, contents)) return false;
  return isDeepStrictEqual(openItem(copy, vault, held).brokenFiles, brokenFiles);
}

/** Returns the contents of Files that are small enough and that the service can decrypt. */
async function readContents(
  reading: Reading,
  vault: HeldVault,
  item: Item,
  held: HeldItem | undefined,
): Promise<ReadonlyMap<string, HeldContent>> {
  const { copy, fileBytesMax } = reading;
  const contents = new Map<string, HeldContent>();
  const itemId = idOf(item.id);
  for (const file of item.files.filter(({ size }) => size <= fileBytesMax)) {
    const id = idOf(file.id);
    const known = held?.contents.get(id);
    const path = `/v1/vaults/${vault.id}/items/${itemId}/files/${id}/content`;
    try {
      const answer = await readAt(reading, path, known?.etag);
      if (answer.status === 304 && known) contents.set(id, known);
      const [etag, disposition] = [answer.headers.get("ETag"), answer.headers.get("Content-Disposition")];
      if (answer.status === 304 || etag === null || disposition === null) continue;
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (bytes.length !== file.size) continue; // it was replaced: an event follows
      contents.set(id, { etag, disposition, sealed: sealContent(copy, [vault.id, itemId, id], etag, bytes) });
    } catch (error) {
      if (!(error instanceof ItemVaultError && /^(file_not_found|integrity)$/.test(error.kind))) throw error;
    }
  }
  return contents;
}

/** Returns the canonical form of an id from the service. Throws an ItemVaultError. */
export function idOf(id: string): string {
  const canonical = parseId(id);
  if (canonical === undefined) throw malformed();
  return canonical;
}

const textOf = async (answer: Response): Promise<string> =>
  answer.text().catch((error: unknown) => {
    throw error instanceof ItemVaultError ? error : malformed();
  });

/** Returns undefined unless the JSON is an Item with this id. */
function parseItem(json: string, id: string): Item | undefined {
  try {
    const item = JSON.parse(json) as Partial<Item> | null;
    const isItem = typeof item?.title === "string" && Array.isArray(item.fields) && Array.isArray(item.files);
    return isItem && parseId(item.id ?? "") === id ? (item as Item) : undefined;
  } catch {
    return undefined;
  }
}
