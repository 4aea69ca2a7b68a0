import { parseItem } from "../../model/item-input.ts";
import type { Item, OfVault } from "../../model/item.ts";
import type { Change } from "../../model/operation.ts";
import { parsePatch } from "../../model/patch-input.ts";
import { ok, type Result } from "../../model/result.ts";
import { recordDamage } from "../../store/health/damages.ts";
import { loadItem } from "../../store/items/items.ts";
import { etagHeader, isCurrent } from "../conditions.ts";
import { sendChange } from "../coordinator.ts";
import { presentItem, presentReplaced } from "../present/items.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** Endpoints 2 to 6 and 17: an Item. */

export async function getItem(call: Call): Promise<Result<Reply>> {
  const { store, dialect, claims: token, vault, item: id } = call;
  const item = await loadItem(store, { token, vault }, id);
  return item.ok ? sendItem(call, item.value, () => presentItem(item.value, dialect, store.now)) : item;
}

/** Records a vault whose name does not open: its Items are answered without it (contract 2.23, 13.3). */
export function reportName({ c, store, vault }: Call, { vaultName }: OfVault): void {
  if (vaultName === undefined) c.executionCtx.waitUntil(recordDamage(store, vault, []));
}

/** Sends an Item, or a 304 when the client has it already (contract 10.4). */
export function sendItem(call: Call, item: Item & OfVault, present: () => object): Result<Reply> {
  const { c } = call;
  reportName(call, item);
  const headers = etagHeader(item);
  const current = isCurrent(c.req.header("If-None-Match"), item);
  const response = current ? c.body(null, 304, headers) : c.json(present(), 200, headers);
  return ok({ response, version: item.version });
}

type Write = (call: Call, change: Change) => Promise<Result<Reply>>;

/**
 * The handler of the writes to an Item. In: how the Item is presented; what the path has after the id of the Item, or else the
 * Idempotency-Key is bound to. A deletion answers 204.
 */
export const writeItem =
  (present: typeof presentItem, rest: (call: Call) => readonly string[] = () => []): Write =>
  async (call, change) => {
    const { c, store, dialect, vault, item: id, body } = call;
    const ids = [...(id === "" ? [vault] : [vault, id]), ...rest(call)];
    const answer = await sendChange(call, vault, change, { ids, body: body?.bytes });
    if (!answer.ok) return answer;
    const { item, vaultName, unchanged } = answer.value;
    if (!item) return ok({ response: c.body(null, 204) });
    const response = c.json(present({ ...item, vaultName }, dialect, store.now), 200, etagHeader(item));
    // No commit logs a write that changed nothing: it only reads.
    return ok({ response, version: item.version, ...(unchanged && { action: "READ" }) });
  };

export const createItem = {
  parse({ body, vault, chosenId }: ParseCall): Result<Change> {
    const input = parseItem(body!.json, vault, "create");
    if (!input.ok) return input;
    const id = chosenId === undefined ? { item: crypto.randomUUID() } : { item: chosenId, chosen: true as const };
    return ok({ kind: "create-item", ...id, input: input.value });
  },
  handle: writeItem(presentItem, ({ chosenId }) => (chosenId === undefined ? [] : ["item-id", chosenId])),
};

export const replaceItem = {
  parse({ body, vault, item, ifMatch }: ParseCall): Result<Change> {
    const input = parseItem(body!.json, vault, "replace");
    return input.ok ? ok({ kind: "replace-item", item, input: input.value, ifMatch }) : input;
  },
  handle: writeItem(presentReplaced),
};

export const patchItem = {
  parse({ body, item, ifMatch }: ParseCall): Result<Change> {
    const edits = parsePatch(body!.json);
    return edits.ok ? ok({ kind: "patch-item", item, edits: edits.value, ifMatch }) : edits;
  },
  async handle(call: Call, change: Change): Promise<Result<Reply>> {
    const reply = await writeItem(presentItem)(call, change);
    // An empty patch only reads, and no commit logs it.
    const reads = change.kind === "patch-item" && change.edits.length === 0;
    return reply.ok && reads ? ok({ ...reply.value, action: "READ" }) : reply;
  },
};

export const deleteItem = {
  parse: ({ item, ifMatch }: ParseCall): Result<Change> => ok({ kind: "delete-item", item, ifMatch }),
  handle: writeItem(presentItem),
};

/** An archived Item is left out of lists (contract 14.14). */
const setState = (kind: "archive-item" | "unarchive-item") => ({
  parse: ({ item, ifMatch }: ParseCall): Result<Change> => ok({ kind, item, ifMatch }),
  handle: writeItem(presentItem, () => [kind]),
});

export const archiveItem = setState("archive-item");
export const unarchiveItem = setState("unarchive-item");
