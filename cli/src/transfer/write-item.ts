import { type Client, ItemVaultError } from "@item-vault/client";
import { jsonOf } from "../api/answers.ts";
import { base64Of } from "./bytes.ts";
import { holdsState } from "./compare.ts";
import { stateOf } from "./read-service.ts";
import * as service from "./service.ts";
import type { ServiceItem } from "./service.ts";
import { progressAfter, type Step } from "./steps.ts";

/** Writes one Item, or the rest of one whose import was interrupted. */

export interface Target {
  readonly client: Client;
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
  /** Whether it is known to have another content. */
  readonly differs?: boolean;
}

/**
 * `created`; `completed`: it lacked some steps; `present`: it was there; `differs`: it is there with another content, because somebody
 * has changed it since an interrupted import, so it was left as it is; `deleted`: it was imported before and has been deleted since.
 */
export type Outcome = "created" | "completed" | "present" | "differs" | "deleted";

/** An Item between two steps. `checked`: nobody else can have changed it since. */
interface Current {
  readonly id: string;
  readonly done: number;
  readonly etag: string;
  readonly checked: boolean;
  readonly item?: ServiceItem;
}

type Loaded = Current & { readonly item: ServiceItem };

const COLLISIONS = 5;

/** Whether nothing is left to write. */
export const isComplete = (found: Found | undefined, steps: readonly Step[]): boolean =>
  found !== undefined && !found.differs && found.version >= steps.length;

/** Errors: throws the ItemVaultError of a request. Repeating the call continues. */
export async function writeItem(target: Target, { id, steps, found }: Planned): Promise<Outcome> {
  if (found?.differs) return "differs";
  if (isComplete(found, steps)) return "present";
  const begun = found ? await loadItem(target, found.id) : await create(target, id, steps[0]!);
  if (!begun) return "deleted";
  let current = begun;
  const created = current.checked;
  if (!created && current.done >= steps.length) return "present";
  for (let collisions = 0; current.done < steps.length;) {
    if (!current.checked && !isMadeBy(current, steps)) return "differs";
    const next = await take(target, current, steps[current.done]!);
    if (!next && ++collisions > COLLISIONS) return "differs";
    // Another import of the same source has written: continue where it is.
    current = next ?? (await loadItem(target, current.id)) ?? current;
  }
  return created ? "created" : "completed";
}

/** Out: `undefined` when an Item of this id was there and is deleted. */
async function create(target: Target, id: string | undefined, step: Step): Promise<Current | undefined> {
  const headers: Record<string, string> = id === undefined ? {} : { "Item-Id": id };
  try {
    const json = bodyOf(target, step);
    const response = await target.client.send("POST", `/v1/vaults/${target.vault}/items`, { json, headers });
    const item = await jsonOf<ServiceItem>(response);
    return { id: item.id, done: 1, etag: etagOf(response), checked: true };
  } catch (error) {
    if (!(error instanceof ItemVaultError) || error.kind !== "item_exists" || id === undefined) throw error;
    return await loadItem(target, id);
  }
}

export async function loadItem({ client, vault }: Target, id: string): Promise<Loaded | undefined> {
  const response = await service.orMissing(client.send("GET", `/v1/vaults/${vault}/items/${id}`));
  if (!response) return undefined;
  const item = await jsonOf<ServiceItem>(response);
  return { id, done: item.version!, etag: etagOf(response), checked: false, item };
}

/** Whether the Item is what the first steps make, or all, and nothing else. */
export function isMadeBy({ item, done }: Pick<Current, "item" | "done">, steps: readonly Step[]): boolean {
  const { state, archived, files } = progressAfter(steps, done);
  const sameFiles = names(item?.files ?? []) === names(files);
  return sameFiles && (item?.state === "ARCHIVED") === archived && holdsState(stateOf(item!), state);
}

const names = (files: readonly { readonly name?: string; readonly size?: number }[]): string =>
  JSON.stringify(files.map(({ name, size }) => `${size} ${name}`).toSorted());

/** Takes a step. Out: `undefined` when somebody else wrote first. */
async function take(target: Target, { id, done, etag }: Current, step: Step): Promise<Current | undefined> {
  const path = `/v1/vaults/${target.vault}/items/${id}`;
  const headers = { "If-Match": etag };
  try {
    if (step.kind === "file") {
      await upload(target, path, step.file, headers);
      // The answer is about the File. The tag of the Item is read, which also shows whether somebody else wrote.
      return await loadItem(target, id);
    }
    const [method, end] = step.kind === "archive" ? (["POST", "/archive"] as const) : (["PUT", ""] as const);
    const json = step.kind === "archive" ? undefined : bodyOf(target, step);
    const response = await target.client.send(method, path + end, { json, headers });
    await response.arrayBuffer(); // frees the connection
    return { id, done: done + 1, etag: etagOf(response), checked: true };
  } catch (error) {
    if (service.isStatus(error, 412)) return undefined;
    throw error;
  }
}

async function upload(
  { client }: Target,
  path: string,
  file: Extract<Step, { kind: "file" }>["file"],
  headers: Record<string, string>,
) {
  const body = (await file.read()) as Uint8Array<ArrayBuffer>;
  const digest = base64Of(new Uint8Array(await crypto.subtle.digest("SHA-256", body)));
  const query = { name: file.name, section: file.section };
  const all = { ...headers, "Content-Digest": `sha-256=:${digest}:` }; // contract 9.5
  await (await client.send("POST", `${path}/files`, { body, query, headers: all })).body?.cancel();
}

const etagOf = (response: Response): string => response.headers.get("ETag") ?? "*";

function bodyOf({ vault }: Target, step: Step): object {
  const { state } = step as Extract<Step, { state: unknown }>;
  return { ...state, vault: { id: vault } };
}
