import type { Permission } from "../crypto/token.ts";
import { readItem } from "../model/item-input.ts";
import type { Change, Precondition } from "../model/operation.ts";
import { readPatch } from "../model/patch-input.ts";
import { ok, type Result } from "../model/result.ts";
import { note } from "./audit.ts";
import { readBody } from "./body.ts";
import { entityTag, readIfMatch } from "./conditions.ts";
import { enter, enterItem, type Entry, refuseInOrder } from "./enter.ts";
import { presentItem, presentReplaced } from "./present.ts";
import type { Call, Handler } from "./route.ts";
import { readIdempotency, send } from "./write.ts";

/** Endpoints 2, 4, 5 and 6: the writes to an Item. */

export const createItem: Handler = async (c) => {
  const entry = await enter(c, "w", "out_of_scope");
  if (!entry.ok) return entry;
  const item = crypto.randomUUID();
  const asked = await ask(c, entry.value, [], (json, vault) => {
    const input = readItem(json, vault, "create");
    return input.ok ? ok({ kind: "create-item", item, input: input.value }) : input;
  });
  return asked.ok ? write(c, entry.value, asked.value, presentItem) : refuseInOrder(entry.value, undefined, asked);
};

export const replaceItem: Handler = (c) =>
  edit(c, "rw", presentReplaced, (json, vault, item, ifMatch) => {
    const input = readItem(json, vault, "replace");
    return input.ok ? ok({ kind: "replace-item", item, input: input.value, ifMatch }) : input;
  });

export const patchItem: Handler = (c) =>
  edit(c, "rw", presentItem, (json, _, item, ifMatch) => {
    const operations = readPatch(json);
    // An empty one only reads, and no commit logs it.
    if (operations.ok && operations.value.length === 0) note(c, { action: "READ" });
    return operations.ok ? ok({ kind: "patch-item", item, operations: operations.value, ifMatch }) : operations;
  });

export const deleteItem: Handler = (c) => edit(c, "w", presentItem, undefined);

type Present = typeof presentItem;
/** Makes a change of a body. */
type Read = (json: unknown, vault: string, item: string, ifMatch: Precondition | undefined) => Result<Change>;

/** A write to an Item that is there; without `read` it has no body and deletes. */
async function edit(c: Call, needs: Permission, present: Present, read: Read | undefined): Promise<Result<Response>> {
  const entry = await enterItem(c, needs, "out_of_scope");
  if (!entry.ok) return entry;
  const { item } = entry.value;
  const ifMatch = readIfMatch(c.req.header("If-Match"));
  if (!ifMatch.ok) return refuseInOrder(entry.value, item, ifMatch);
  const readChange = read && ((json: unknown, vault: string) => read(json, vault, item, ifMatch.value));
  const asked = await ask(c, entry.value, [item], readChange ?? { kind: "delete-item", item, ifMatch: ifMatch.value });
  return asked.ok ? write(c, entry.value, asked.value, present) : refuseInOrder(entry.value, item, asked);
}

type Asked = Pick<Parameters<typeof send>[1], "change" | "idempotency" | "size">;

/** What the request asks for: its body, if it is to have one, and its Idempotency-Key. */
async function ask(
  c: Call,
  { token, vault }: Entry,
  item: readonly string[],
  change: Change | ((json: unknown, vault: string) => Result<Change>),
): Promise<Result<Asked>> {
  const body = typeof change === "function" ? await readBody(c.req.raw) : undefined;
  if (body && !body.ok) return body;
  const made = typeof change === "function" ? change(body!.value.json, vault) : ok(change);
  if (!made.ok) return made;
  const idempotency = await readIdempotency(c, token, [vault, ...item], body?.value.bytes);
  return idempotency.ok
    ? ok({ change: made.value, idempotency: idempotency.value, size: body?.value.bytes.length ?? 0 })
    : idempotency;
}

async function write(c: Call, { claims, store, token, vault }: Entry, asked: Asked, present: Present): Promise<Result<Response>> {
  const answer = await send(c, { vault, actor: token, ...asked });
  if (!answer.ok) return answer;
  const { item } = answer.value;
  if (!item) return ok(c.body(null, 204));
  note(c, { version: item.version });
  return ok(c.json(present(item, claims.dialect, store.now), 200, { ETag: entityTag(item.version) }));
}
