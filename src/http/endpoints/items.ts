import { parseItem, parsePatch, describeIgnored } from "../../model/item-input.ts";
import type { Item, OfVault } from "../../model/item.ts";
import type { Change } from "../../model/operation.ts";
import { itemsIn } from "../../model/permission.ts";
import { map, ok, type Result } from "../../model/result.ts";
import { recordDamage } from "../../store/health/damages.ts";
import { loadItem } from "../../store/items/items.ts";
import type { VaultAccess } from "../../store/vaults/authorized.ts";
import { etagHeader, isCurrent } from "../conditions.ts";
import { sendChange } from "../coordinator.ts";
import { brokenHeader } from "../optional-headers.ts";
import { presentItem, presentReplaced } from "../present/items.ts";
import { type Call, type ParseCall, type Reply, type ReplyTo, serveBy } from "../route.ts";

/** Endpoints 2 to 6 and 17: an Item. */

export async function getItem(call: Call): ReplyTo<"getItem"> {
  const { store, dialect, claims: token, vault, item: id } = call;
  const item = await loadItem(store, { token, vault }, id);
  return item.ok ? sendItem(call, item.value, () => presentItem(item.value, dialect, store.now)) : item;
}

/** Returns the access of a list to the vault of the path. */
export const accessOf = ({ claims: token, vault, vaults }: Call): VaultAccess => ({
  token,
  vault,
  items: itemsIn(vaults[vault]),
});

/** Records that the name of a vault cannot be decrypted. Its Items are answered without the name (contract 2.23, 13.3). */
export function reportName({ c, store }: Call, { vaultName }: OfVault): void {
  if (vaultName === undefined) c.executionCtx.waitUntil(recordDamage(store));
}

const itemHeaders = (item: Item): Record<string, string> => ({ ...etagHeader(item), ...brokenHeader(item.brokenFiles?.length) });

/**
 * Sends an Item, or a 304 if the client already has it (contract 10.4). There is no 304 while a File is broken, because the File
 * may become readable without a new tag.
 */
export function sendItem<Body>(call: Call, item: Item & OfVault, present: () => Body): Result<Reply<Body>> {
  const { c } = call;
  reportName(call, item);
  const headers = itemHeaders(item);
  const current = !item.brokenFiles && isCurrent(c.req.header("If-None-Match"), item);
  const content = current ? { response: c.body(null, 304, headers) } : { json: present(), headers };
  return ok({ ...content, version: item.version, broken: item.brokenFiles !== undefined });
}

/** Returns the values bound to the request's Idempotency-Key besides the Item: the rest of the path, or others. */
type Rest = (call: Call) => readonly string[];

const NOTHING: Rest = () => [];

function sendItemChange(call: Call, change: Change, rest: Rest) {
  const { vault, item, body } = call;
  const ids = [...(item === "" ? [vault] : [vault, item]), ...rest(call)];
  return sendChange(call, vault, change, { ids, body: body?.bytes });
}

/** Returns the header that names ignored attributes of the body (contract 2.16), if there are any. */
function ignoredHeader({ body, dialect }: Call): Record<string, string> {
  const ignored = dialect === "uuid" && body ? describeIgnored(body.json) : "";
  return ignored === "" ? {} : { "Item-Vault-Ignored": ignored };
}

/** Returns the handler of a write that answers with the Item. `present` presents the Item. */
export const writeItem =
  (present: typeof presentItem, rest = NOTHING) =>
  async (call: Call, change: Change): ReplyTo<"patchItem"> => {
    const answer = await sendItemChange(call, change, rest);
    if (!answer.ok) return answer;
    const { vaultName, unchanged } = answer.value;
    const item = answer.value.item!;
    const json = present({ ...item, vaultName }, call.dialect, call.store.now);
    // No commit logs a write that changed nothing: it only reads.
    const headers = { ...itemHeaders(item), ...ignoredHeader(call) };
    return ok({ json, headers, version: item.version, ...(unchanged && { action: "READ" }) });
  };

/** The handler of the writes that answer 204. */
export const eraseItem =
  (rest = NOTHING) =>
  async (call: Call, change: Change): Promise<Result<Reply<never>>> => {
    return map(await sendItemChange(call, change, rest), () => ({ response: call.c.body(null, 204) }));
  };

export const createItem = serveBy({
  parse({ body, vault, chosenId }: ParseCall): Result<Change> {
    const input = parseItem(body!.json, vault, "create");
    if (!input.ok) return input;
    const id = chosenId === undefined ? { item: crypto.randomUUID() } : { item: chosenId, chosen: true as const };
    return ok({ kind: "create-item", ...id, input: input.value });
  },
  handle: writeItem(presentItem, ({ chosenId }) => (chosenId === undefined ? [] : ["item-id", chosenId])),
});

export const replaceItem = serveBy({
  parse: ({ body, vault, item, ifMatch }: ParseCall): Result<Change> =>
    map(parseItem(body!.json, vault, "replace"), (input) => ({ kind: "replace-item", item, input, ifMatch })),
  handle: writeItem(presentReplaced),
});

export const patchItem = serveBy({
  parse: ({ body, item, ifMatch }: ParseCall): Result<Change> =>
    map(parsePatch(body!.json), (edits) => ({ kind: "patch-item", item, edits, ifMatch })),
  handle: writeItem(presentItem),
});

export const deleteItem = serveBy({
  parse: ({ item, ifMatch }: ParseCall): Result<Change> => ok({ kind: "delete-item", item, ifMatch }),
  handle: eraseItem(),
});

/** Returns the handler that archives or unarchives an Item. An archived Item is left out of lists (contract 14.14). */
const setState = (kind: "archive-item" | "unarchive-item") => ({
  parse: ({ item, ifMatch }: ParseCall): Result<Change> => ok({ kind, item, ifMatch }),
  handle: writeItem(presentItem, () => [kind]),
});

export const archiveItem = setState("archive-item");
export const unarchiveItem = setState("unarchive-item");
