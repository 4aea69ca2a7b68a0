import type { ContentAddress } from "../../model/file.ts";
import type { Change, NewContent } from "../../model/operation.ts";
import { ok, type Result } from "../../model/result.ts";
import { deleteContent } from "../../store/contents/upload.ts";
import { loadFile } from "../../store/items/files.ts";
import { requireRoomForFile } from "../../store/health/room.ts";
import { recordContent, sendChange, tryChange } from "../coordinator.ts";
import { presentFile } from "../present/items.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import { parseName, parseSection, parseUploadHeaders, receiveContent, type UploadHeaders } from "../upload.ts";
import { uploadContent } from "../upload-content.ts";
import { filesOf } from "../../store/buckets/r2.ts";

/** Endpoint 12: the writes to the Files of an Item. */

interface NewFile extends UploadHeaders {
  readonly name: string;
  readonly section: string | undefined;
}

export const uploadFile = serveBy({
  parse({ c }: ParseCall): Result<NewFile> {
    const [name, section, headers] = [parseName(c), parseSection(c), parseUploadHeaders(c)];
    if (!name.ok) return name;
    if (!section.ok) return section;
    return headers.ok ? ok({ ...headers.value, name: name.value, section: section.value }) : headers;
  },
  async handle(call: Call, { name, section, ...headers }: NewFile): ReplyTo<"uploadFile"> {
    const { claims: token, vault, item, ifMatch } = call;
    const room = await requireRoomForFile(call.store, { token, vault }, item, headers.length);
    if (!room.ok) return room;
    const binding = [vault, item, JSON.stringify({ name, section })];
    return upload(call, crypto.randomUUID(), headers, binding, (content) => ({
      kind: "add-file",
      item,
      file: { ...content, name, section },
      ifMatch,
    }));
  },
});

export const replaceFileContent = serveBy({
  parse: ({ c }: ParseCall): Result<UploadHeaders> => parseUploadHeaders(c),
  async handle(call: Call, headers: UploadHeaders): ReplyTo<"replaceFileContent"> {
    const { claims: token, vault, item, ifMatch } = call;
    const stored = await loadFile(call.store, { token, vault }, item, call.file);
    if (!stored.ok) return stored;
    const { id } = stored.value;
    return upload(call, id, headers, [vault, item, id], (file) => ({ kind: "replace-content", item, file, ifMatch }));
  },
});

export const deleteFile = serveBy({
  parse: ({ item, file, ifMatch }: ParseCall): Result<Change> => ok({ kind: "delete-file", item, file, ifMatch }),
  async handle(call: Call, change: Change): ReplyTo<"deleteFile"> {
    const { c, vault, item, file } = call;
    const answer = await sendChange(call, vault, change, { ids: [vault, item, file] });
    return answer.ok ? ok({ response: c.body(null, 204) }) : answer;
  },
});

/** In: the File's id, what the Idempotency-Key is bound to besides the body, and the change that stores the row. */
async function upload(
  call: Call,
  file: string,
  headers: UploadHeaders,
  ids: readonly string[],
  changeFor: (content: NewContent) => Change,
): ReplyTo<"uploadFile"> {
  const { c, store, vault, item, dialect, idempotencyKey } = call;
  const address: ContentAddress = { vault, item, file, generation: crypto.randomUUID() };
  const written = await uploadContent(address, crypto.getRandomValues(new Uint8Array(32)), {
    record: () => recordContent(call, address),
    receive: (key) => receiveContent(c, address, key, headers, idempotencyKey !== undefined, store.share),
    write: (content, hash) => tryChange(call, vault, changeFor(content), { ids, body: hash }),
    discard: () => deleteContent(filesOf(c.env), address),
  });
  return written.ok ? ok({ json: presentFile(written.value, { id: item, vault }, dialect) }) : written;
}
