import type { FailureKind } from "../model/failure.ts";
import type { Change, NewContent, Precondition } from "../model/operation.ts";
import { ok, type Refusal, type Result } from "../model/result.ts";
import { deleteContent } from "../store/contents.ts";
import { readFile } from "../store/files.ts";
import { findItem } from "../store/items.ts";
import { readIfMatch } from "./conditions.ts";
import { enterItem, fileId, type ItemEntry } from "./enter.ts";
import { presentFile } from "./present.ts";
import type { Call, Handler } from "./route.ts";
import { readName, readSection, readUpload, receive } from "./upload.ts";
import { expectContent, readIdempotency, send } from "./write.ts";

/** Endpoint 12: files come and go. The blob first, then its row; the row away first, and much later its blob. */

export const uploadFile: Handler = async (c) => {
  const entry = await enterItem(c, "w", "out_of_scope");
  if (!entry.ok) return entry;
  const { item, vault } = entry.value;
  const found = await findItem(entry.value.store, entry.value, item);
  if (!found.ok) return found;
  const [name, section] = [readName(c), readSection(c)];
  if (!name.ok) return name;
  if (!section.ok) return section;
  const described = { name: name.value, section: section.value };
  return store(c, entry.value, crypto.randomUUID(), [vault, item, JSON.stringify(described)], (content, ifMatch) => ({
    kind: "add-file",
    item,
    file: { ...content, ...described },
    ifMatch,
  }));
};

/** Needs both permissions: the answer shows a name that the request did not bring. */
export const replaceContent: Handler = async (c) => {
  const entry = await enterItem(c, "rw", "out_of_scope");
  if (!entry.ok) return entry;
  const { item, vault } = entry.value;
  const file = await readFile(entry.value.store, entry.value, item, fileId(c));
  if (!file.ok) return file;
  const { id } = file.value;
  return store(c, entry.value, id, [vault, item, id], (content, ifMatch) => ({
    kind: "replace-content",
    item,
    file: content,
    ifMatch,
  }));
};

export const deleteFile: Handler = async (c) => {
  const entry = await enterItem(c, "w", "out_of_scope");
  if (!entry.ok) return entry;
  const { item, vault, token: actor } = entry.value;
  const file = fileId(c);
  const ifMatch = readIfMatch(c.req.header("If-Match"));
  const idempotency = ifMatch.ok ? await readIdempotency(c, actor, [vault, item, file]) : ifMatch;
  if (!ifMatch.ok || !idempotency.ok) {
    const found = await readFile(entry.value.store, entry.value, item, file);
    return found.ok ? (idempotency as Refusal) : found;
  }
  const change: Change = { kind: "delete-file", item, file, ifMatch: ifMatch.value };
  const answer = await send(c, { vault, actor, size: 0, idempotency: idempotency.value, change });
  return answer.ok ? ok(c.body(null, 204)) : answer;
};

/**
 * What a coordinator answers when a write did not happen and never will, not even by an earlier try that is still on its
 * way: what it saw has moved the fence. A revoked token has not.
 */
const REFUSED = new Set<FailureKind>([
  "vault_not_found",
  "item_not_found",
  "file_not_found",
  "invalid",
  "idempotency",
  "precondition",
]);

/** Streams the body into R2 and hands its row to the coordinator. In: the file's id, and what the request is bound to. */
async function store(
  c: Call,
  { vault, item, token: actor, claims }: ItemEntry,
  id: string,
  binding: readonly string[],
  changeTo: (content: NewContent, ifMatch: Precondition | undefined) => Change,
): Promise<Result<Response>> {
  const upload = readUpload(c);
  if (!upload.ok) return upload;
  const ifMatch = readIfMatch(c.req.header("If-Match"));
  if (!ifMatch.ok) return ifMatch;
  const keyed = await readIdempotency(c, actor, binding);
  if (!keyed.ok) return keyed;
  const place = { vault, item, file: id, generation: crypto.randomUUID() };
  const key = crypto.getRandomValues(new Uint8Array(32));
  const expected = await expectContent(c, place);
  if (!expected.ok) return expected;
  const received = await receive(c, place, key, upload.value, keyed.value !== undefined);
  if (!received.ok) return received;
  const { size, hash } = received.value;
  const idempotency = await readIdempotency(c, actor, binding, hash);
  if (!idempotency.ok) return idempotency;
  const change = changeTo({ id, size, generation: place.generation, key: key.toBase64() }, ifMatch.value);
  const answer = await send(c, { vault, actor, size: 0, idempotency: idempotency.value, change });
  if (!answer.ok) {
    // When it may have happened, or may still, the watch list finds out what is to be done.
    if (REFUSED.has(answer.failure.kind)) await deleteContent(c.env.FILES, place);
    return answer;
  }
  const written = answer.value.item!.files.find((file) => file.id === answer.value.file)!;
  // The answer of an earlier request with the same key: what came now is not needed.
  if (written.generation !== place.generation) await deleteContent(c.env.FILES, place);
  return ok(c.json(presentFile(written, { id: item, vault }, claims.dialect)));
}
