import { type Caller, type File, type Item, type ItemReplacement, ItemVaultError } from "@item-vault/client";
import { base64Of } from "./bytes.ts";
import { holdsState } from "./compare.ts";
import type { TransferFile } from "./item.ts";
import { stateOf } from "./read-service.ts";
import * as service from "./service.ts";
import { progressAfter, type Step } from "./steps.ts";

/** Writes one Item, or the rest of an Item whose import was interrupted. */

export interface Target {
  readonly client: Caller;
  readonly vault: string;
}

export interface Planned {
  /** The id of the Item; `undefined`: the service makes one. */
  readonly id: string | undefined;
  readonly steps: readonly Step[];
  /** The Item of the vault that stands for this one. */
  readonly found: Found | undefined;
}

export interface Found {
  readonly id: string;
  readonly version: number;
  /** True if its content differs; absent: its content was not compared. */
  readonly differs?: boolean;
}

/**
 * `created`; `completed`: it lacked some steps; `present`: it was there with this content; `differs`: the Item is there with other content,
 * because somebody has changed it here or in the source, so it was left unchanged; `deleted`: it was imported before and has been deleted
 * since.
 */
export type Outcome = "created" | "completed" | "present" | "differs" | "deleted";

/** An Item between two steps. `checked`: nobody else can have changed it since. */
interface Current {
  readonly id: string;
  readonly done: number;
  readonly etag: string;
  readonly checked: boolean;
  readonly item?: Item;
}

type Loaded = Current & { readonly item: Item };

const isLoaded = (current: Current): current is Loaded => current.item !== undefined;

const COLLISIONS_MAX = 5;

/**
 * SHA-256 in Base64 of contents that were read. The key is the id of a File of the service, whose content never changes, or a File of the
 * source.
 */
export type Digests = Map<string | TransferFile, string>;

/** Returns true if nothing is left to write. */
export const isComplete = (found: Found | undefined, steps: readonly Step[]): boolean =>
  found !== undefined && !found.differs && found.version >= steps.length;

/** Writes an Item. Throws the ItemVaultError of a request. Repeating the call continues. */
export async function writeItem(target: Target, { id, steps, found }: Planned): Promise<Outcome> {
  if (found?.differs) return "differs";
  if (isComplete(found, steps) && found?.differs === false) return "present";
  const begun = found ? await loadItem(target, found.id) : await create(target, id, steps[0]!);
  if (!begun) return "deleted";
  let current: Current = begun;
  const created = current.checked;
  const digests: Digests = new Map();
  // The version shows the number of done steps, but nothing about the content. The source's content may have changed.
  if (isLoaded(current) && current.done >= steps.length)
    return (await isMadeBy(target, current, steps, digests)) ? "present" : "differs";
  for (let collisions = 0; current.done < steps.length;) {
    if (isLoaded(current) && !(await isMadeBy(target, current, steps, digests))) return "differs";
    const next = await take(target, current, steps[current.done]!, digests);
    if (!next && ++collisions > COLLISIONS_MAX) return "differs";
    // Another import of the same source has written: continue where it is.
    current = next ?? (await loadItem(target, current.id)) ?? current;
  }
  return created ? "created" : "completed";
}

/** Returns undefined if an Item with this id is deleted. */
async function create(target: Target, id: string | undefined, step: Step): Promise<Current | undefined> {
  try {
    const { data: item, etag = "*" } = await target.client.call("POST /v1/vaults/{vault}/items", {
      path: { vault: target.vault },
      headers: { "Item-Id": id },
      body: bodyOf(target, step),
    });
    return { id: item.id, done: 1, etag, checked: true };
  } catch (error) {
    if (!(error instanceof ItemVaultError) || error.kind !== "item_exists" || id === undefined) throw error;
    return await loadItem(target, id);
  }
}

export async function loadItem({ client, vault }: Target, id: string): Promise<Loaded | undefined> {
  const answer = await service.orMissing(client.call("GET /v1/vaults/{vault}/items/{item}", { path: { vault, item: id } }));
  if (!answer) return undefined;
  const { data: item, etag = "*" } = answer;
  return { id, done: item.version, etag, checked: false, item };
}

/**
 * Returns true if the Item equals the result of the first steps, or of all steps. Contents are read only if everything else is equal.
 * `digests` gets their digests.
 */
export async function isMadeBy(
  target: Target,
  { item, done }: Pick<Loaded, "item" | "done">,
  steps: readonly Step[],
  digests: Digests,
): Promise<boolean> {
  const { state, archived, files } = progressAfter(steps, done);
  const sameState = (item.state === "ARCHIVED") === archived && holdsState(stateOf(item), state);
  return sameState && (await hasFiles(target, item, files, digests));
}

/** Returns true if an Item has exactly these Files: as many of each name, size and content. */
async function hasFiles(
  target: Target,
  { id: item, files: stored }: Item,
  files: readonly TransferFile[],
  digests: Digests,
): Promise<boolean> {
  if (listOf(stored) !== listOf(files)) return false;
  for (const file of files) if (!digests.has(file)) digests.set(file, await digestOf(await readSource(file)));
  for (const { id } of stored) {
    if (digests.has(id)) continue;
    const content = await readStored(target, item, id);
    if (!content) return false;
    digests.set(id, await digestOf(content));
  }
  return listOf(stored, ({ id }) => digests.get(id)) === listOf(files, (file) => digests.get(file));
}

const listOf = <F extends Pick<File, "name" | "size">>(
  files: readonly F[],
  contentOf: (file: F) => string | undefined = () => "",
): string => JSON.stringify(files.map((file) => `${file.size} ${contentOf(file)} ${file.name}`).toSorted());

/** Returns undefined for a File that is gone, or whose stored content is damaged. */
async function readStored({ client, vault }: Target, item: string, file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return await service.readContent(client, { vault, item }, file);
  } catch (error) {
    if (error instanceof ItemVaultError && (error.status === 404 || error.kind === "integrity")) return undefined;
    throw error;
  }
}

const readSource = async (file: TransferFile) => (await file.read()) as Uint8Array<ArrayBuffer>;

const digestOf = async (content: Uint8Array<ArrayBuffer>): Promise<string> =>
  base64Of(new Uint8Array(await crypto.subtle.digest("SHA-256", content)));

/** Takes a step. Returns undefined if another client wrote first. */
async function take(target: Target, { id, done, etag }: Current, step: Step, digests: Digests): Promise<Current | undefined> {
  const { client, vault } = target;
  const path = { vault, item: id };
  const headers = { "If-Match": etag };
  try {
    if (step.kind === "file") {
      await upload(client, path, step.file, { etag, digests });
      // The answer is about the File. The tag of the Item is read, which also shows whether somebody else wrote.
      return await loadItem(target, id);
    }
    const written =
      step.kind === "archive"
        ? await client.call("POST /v1/vaults/{vault}/items/{item}/archive", { path, headers })
        : await client.call("PUT /v1/vaults/{vault}/items/{item}", { path, headers, body: bodyOf(target, step) });
    return { id, done: done + 1, etag: written.etag ?? "*", checked: true };
  } catch (error) {
    if (service.isStatus(error, 412)) return undefined;
    throw error;
  }
}

/** Uploads a File. `digests` gets its digest, so that it is not read again. */
async function upload(
  client: Caller,
  path: service.ItemPath,
  file: TransferFile,
  { etag, digests }: { readonly etag: string; readonly digests: Digests },
): Promise<void> {
  const body = await readSource(file);
  const digest = await digestOf(body);
  const query = { name: file.name, section: file.section };
  const headers = { "If-Match": etag, "Content-Digest": `sha-256=:${digest}:` }; // contract 9.5
  const { data } = await client.call("POST /v1/vaults/{vault}/items/{item}/files", { path, query, headers, body });
  digests.set(data.id, digest).set(file, digest);
}

function bodyOf({ vault }: Target, step: Step): ItemReplacement {
  const { state } = step as Extract<Step, { state: unknown }>;
  // `fitTransfer` has left only categories and types of fields that the service has.
  return { ...(state as Omit<ItemReplacement, "vault">), vault: { id: vault } };
}
