import type { FailureKind } from "../model/failure.ts";
import type { ContentAddress, File } from "../model/file.ts";
import type { Answer, NewContent } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Tried } from "../durable-object-calls.ts";

/** A content that R2 has stored. */
export interface Received {
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
