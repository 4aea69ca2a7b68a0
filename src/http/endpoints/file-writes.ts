import { parse as parseDisposition } from "content-disposition";
import { PIECE_BYTES } from "../../crypto/pieces.ts";
import type { Tried } from "../../durable-object-calls.ts";
import { admitBytes, type Share } from "../../memory-budget.ts";
import type { FailureKind } from "../../model/failure.ts";
import type { ContentAddress, File } from "../../model/file.ts";
import { fits, LIMITS } from "../../model/limits.ts";
import type { Change, NewContent, Answer } from "../../model/operation.ts";
import { ok, type Result, fail, invalid } from "../../model/result.ts";
import { filesOf, PART_BYTES } from "../../store/buckets/r2.ts";
import type { UploadPieces } from "../../store/contents/pieces.ts";
import { deleteContent, putContent } from "../../store/contents/upload.ts";
import { requireRoomForFile } from "../../store/health/room.ts";
import { loadFile } from "../../store/items/files.ts";
import { isEncoded } from "../body.ts";
import type { Context } from "../context.ts";
import { recordContent, tryChange } from "../coordinator.ts";
import { presentFile } from "../present/items.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";
import { eraseItem } from "./items.ts";

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
  handle: eraseItem(({ file }) => [file]),
});

/**
 * Uploads a content. `file` is the File's id. `ids` are bound to the Idempotency-Key besides the body. `changeFor` returns the
 * change that stores the row.
 */
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

/** Requests whose body is the content of a File (contract 9): their headers, and the checks of their bytes. */

/** Returns the name of a new File: from the query, else from `Content-Disposition` (RFC 6266). Fails with 400. */
export function parseName(c: Context): Result<string> {
  const header = c.req.header("Content-Disposition");
  const name = c.req.query("name") ?? (header === undefined ? undefined : parseDisposition(header).parameters["filename"]);
  if (!name) return invalid("name: is missing: give it in the query, or as filename in Content-Disposition");
  if (!fits(name, LIMITS.fileName)) return invalid(`name: is longer than ${LIMITS.fileName} bytes`);
  return name.isWellFormed() ? ok(name) : invalid("name: holds half of a surrogate pair");
}

/** Returns the section id of a new File, from the query. Fails with 400. */
function parseSection(c: Context): Result<string | undefined> {
  const section = c.req.query("section") || undefined;
  return section === undefined || fits(section, LIMITS.sectionId)
    ? ok(section)
    : invalid(`section: is longer than ${LIMITS.sectionId} bytes`);
}

interface UploadHeaders {
  /** Bytes of the body; absent when the client does not declare them. */
  readonly length: number | undefined;
  /** The SHA-256 that the bytes must have, in base64. */
  readonly digest: string | undefined;
}

/** Parses `Content-Length` and `Content-Digest`. Fails with 400, 413 or 415. */
function parseUploadHeaders(c: Context): Result<UploadHeaders> {
  if (isEncoded(c.req.raw)) return fail("encoding");
  if (/^\s*multipart\/form-data\b/i.test(c.req.header("Content-Type") ?? ""))
    return invalid("Content-Type: is multipart/form-data: send the bytes of the file alone, with curl by --data-binary @FILE");
  const declared = c.req.header("Content-Length");
  if (declared !== undefined && !/^\d{1,15}$/.test(declared)) return invalid("Content-Length: is not a number of bytes");
  const length = declared === undefined ? undefined : Number(declared);
  if (length !== undefined && length > LIMITS.file) return fail("body_too_large", String(LIMITS.file));
  const header = c.req.header("Content-Digest");
  const digest = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header ?? "")?.[1]; // RFC 9530 section 2
  if (header !== undefined && digest === undefined) return invalid("Content-Digest: has no sha-256 of 32 bytes");
  return ok({ length, digest });
}

/**
 * Streams the sealed body into R2. `hashed` is true if the SHA-256 is needed even without a digest. Fails as `checkPieces` and
 * `putContent` do; nothing is stored then.
 */
function receiveContent(
  c: Context,
  address: ContentAddress,
  key: Uint8Array,
  headers: UploadHeaders,
  hashed: boolean,
  share: Share | undefined,
): Promise<Result<Received>> {
  const { body } = c.req.raw;
  const stream = body ?? new Response(new Uint8Array()).body!;
  const length = body ? headers.length : 0;
  return putContent(filesOf(c.env), address, key, stream, length, (pieces) => checkPieces(pieces, headers, hashed, share));
}

/**
 * Forwards the pieces of a body. Returns the received content, or refuses with 413 if it is too large, and with 400 if length or
 * digest differ from the headers. The last piece is forwarded only after all checks.
 */
async function* checkPieces(
  pieces: UploadPieces<undefined>,
  { length, digest }: UploadHeaders,
  hashed: boolean,
  share: Share | undefined,
): UploadPieces<Received> {
  const hashing = hashed || digest !== undefined ? new crypto.DigestStream("SHA-256") : undefined;
  const hasher = hashing?.getWriter();
  let size = 0;
  let hash: Uint8Array | undefined;
  try {
    for (;;) {
      const next = await pieces.next();
      if (next.done) return next.value.ok ? ok({ size, hash }) : next.value;
      const plain = next.value;
      const last = plain.length < PIECE_BYTES;
      size += plain.length;
      if (size > LIMITS.file) return fail("body_too_large", String(LIMITS.file));
      // R2 takes a body without a length in parts, each of which is wholly in memory.
      const admitted = length === undefined ? admitBytes(share, Math.min(size, PART_BYTES)) : ok(undefined);
      if (!admitted.ok) return admitted;
      // The platform checks this for HTTP; a Worker that calls this one may send another length.
      if (length !== undefined && (size > length || (last && size < length)))
        return invalid("the body is not as long as its Content-Length says");
      await hasher?.write(plain.slice()); // a copy, because the runtime detaches the buffer
      if (last && hashing) {
        await hasher!.close();
        hash = new Uint8Array(await hashing.digest);
        if (digest !== undefined && hash.toBase64() !== digest) return invalid("Content-Digest: is not that of the body");
      }
      yield plain;
    }
  } finally {
    await pieces.return(ok(undefined));
  }
}

/** A content that R2 has stored. */
interface Received {
  /** Bytes, before sealing. */
  readonly size: number;
  /** SHA-256 of the bytes; absent when the request has no Idempotency-Key and no digest. */
  readonly hash: Uint8Array | undefined;
}

/** The effects of an upload. docs/consistency.md states why their order matters. */
export interface UploadPorts {
  /** Records the content as pending, durably. */
  readonly record: () => Promise<Result<undefined>>;
  /** Streams the body into R2, sealed under the key. After a refusal nothing is stored. */
  readonly receive: (key: Uint8Array) => Promise<Result<Received>>;
  /** Commits the row that references the content. */
  readonly write: (content: NewContent, hash: Uint8Array | undefined) => Promise<Tried<Answer>>;
  /** Deletes the content. */
  readonly discard: () => Promise<void>;
}

/**
 * Failures after which the row will never be committed, if only one coordinator got the write once.
 *
 * The state that caused the refusal has moved the fence, so D1 also refuses an earlier attempt with an unknown outcome. A revoked
 * token does not move the fence. A full database and a quota never refuse a write that was attempted. `overtaken` comes from the
 * idempotency record of an earlier request, because a coordinator that got the write once knows the answers of its own attempts.
 *
 * After a second try no refusal is final: the first try's coordinator may read a later state in which the write is allowed. For
 * example, a full Item can become smaller by another write.
 */
const NEVER_COMMITTED: ReadonlySet<FailureKind> = new Set<FailureKind>([
  "vault_not_found",
  "item_not_found",
  "file_not_found",
  "invalid",
  "idempotency",
  "overtaken",
  "precondition",
  "database_full",
  "quota",
]);

/**
 * Stores a content and then its row: record, receive, write. Returns the File. `key` is the new key of the content. Fails as the
 * ports do. If the row may still be committed, the content stays and the pending record decides.
 */
export async function uploadContent(address: ContentAddress, key: Uint8Array, ports: UploadPorts): Promise<Result<File>> {
  const recorded = await ports.record();
  if (!recorded.ok) return recorded;
  const received = await ports.receive(key);
  if (!received.ok) return received;
  const { size, hash } = received.value;
  const content = { id: address.file, size, generation: address.generation, key: key.toBase64() };
  const { answer, tries } = await ports.write(content, hash);
  if (!answer.ok) {
    if (tries === 1 && NEVER_COMMITTED.has(answer.failure.kind)) await ports.discard();
    return answer;
  }
  const file = answer.value.item!.files.find(({ id }) => id === answer.value.file);
  // An idempotency record has answered. The row references the first request's content, which may no longer be readable.
  if (tries === 1 && file?.generation !== address.generation) await ports.discard();
  return file ? ok(file) : fail("integrity");
}
