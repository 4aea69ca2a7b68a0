import { createHash, type Hash } from "node:crypto";
import type { Client } from "@item-vault/client";
import type { ItemPath } from "../api/find.ts";
import type { FileInfo } from "../api/shapes.ts";
import { CliError, failureOf } from "../frame/failure.ts";
import type { Progress } from "../output/progress.ts";

/** Contents of Files, as streams. */

export type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The content of a File. `version`: as it was at that version of the Item. */
export async function openContent(client: Client, path: ItemPath, { id }: FileInfo, version?: number): Promise<Bytes> {
  const { data } = await client.call("GET /v1/vaults/{vault}/items/{item}/files/{file}/content", {
    path: { ...path, file: id },
    query: { version },
  });
  return withFailure(data.body! as Bytes, endedEarly);
}

/** The connection ends within a content that the service cannot read to its end (contract 4.10). */
const endedEarly = () => new CliError("The download ended early", { exit: "unavailable", hint: "Run the command again." });

/** Returns the same stream. `failureFor` converts its failure. */
function withFailure(bytes: Bytes, failureFor: (error: unknown) => unknown): Bytes {
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(failureFor(error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/**
 * Stores a content as a new File, or in place of `replace`. A stream cannot be sent again, so a failure is not retried. `size` is in bytes,
 * if it is known. Throws an ItemVaultError, or the failure of the stream.
 */
export async function upload(
  client: Client,
  path: ItemPath,
  bytes: Bytes,
  file: {
    readonly name: string;
    readonly section?: string | undefined;
    readonly size?: number | undefined;
    readonly replace?: string;
  },
): Promise<FileInfo> {
  const headers = file.size === undefined ? {} : { "Content-Length": String(file.size) };
  // fetch reports a failing stream and an unreachable service in the same way.
  let fault: CliError | undefined;
  const body = withFailure(
    bytes,
    (error) => (fault = failureOf(error) ?? new CliError("The content could not be read completely")),
  );
  const { name, section, replace } = file;
  try {
    const { data } =
      replace === undefined
        ? await client.call("POST /v1/vaults/{vault}/items/{item}/files", { path, query: { name, section }, headers, body })
        : await client.call("PUT /v1/vaults/{vault}/items/{item}/files/{file}/content", {
            path: { ...path, file: replace },
            headers,
            body,
          });
    return data;
  } catch (error) {
    throw fault ?? error;
  }
}

/** Returns the same bytes, counted and hashed in transit. The stream fails if there are more or fewer than `size`. */
export function measured(bytes: Bytes, size: number | undefined, progress?: Progress): { bytes: Bytes; hash: Hash } {
  const hash = createHash("sha256");
  let count = 0;
  const counted = bytes.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        count += chunk.length;
        if (size !== undefined && count > size) throw otherSize();
        hash.update(chunk);
        progress?.add(chunk.length);
        controller.enqueue(chunk);
      },
      flush() {
        if (size !== undefined && count !== size) throw otherSize();
      },
    }),
  );
  return { bytes: counted, hash };
}

const otherSize = () =>
  new CliError("The content changed while it was read: its size differs", {
    exit: "conflict",
    hint: "Run the command again.",
  });

/** The SHA-256 of a content, which is read to its end. */
export async function hashOf(bytes: Bytes): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest("hex");
}
