import { createHash, type Hash } from "node:crypto";
import type { Client } from "@item-vault/client";
import { request } from "../api/answers.ts";
import type { FileInfo } from "../api/shapes.ts";
import { CliError } from "../frame/failure.ts";
import type { Progress } from "../output/progress.ts";

/** Contents of Files, as streams. */

export type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The content of a File. `version`: as it was at that version of the Item. In: the path of the Item. */
export async function openContent(client: Client, path: string, { id }: FileInfo, version?: number): Promise<Bytes> {
  const response = await client.send("GET", `${path}/files/${encodeURIComponent(id)}/content`, { query: { version } });
  return complete(response.body! as Bytes);
}

/** The same stream. Errors: it fails with a CliError when the connection ends within it (contract 4.10). */
function complete(bytes: Bytes): Bytes {
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch {
        controller.error(new CliError("The download ended early", { exit: "unavailable", hint: "Run the command again." }));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/**
 * Stores a content as a new File, or in place of `replace`. A stream cannot be sent again, so a failure is not retried.
 * `size`: in bytes, if it is known.
 */
export function upload(
  client: Client,
  path: string,
  body: Bytes,
  file: {
    readonly name: string;
    readonly section?: string | undefined;
    readonly size?: number | undefined;
    readonly replace?: string;
  },
): Promise<FileInfo> {
  const headers = {
    "Content-Type": "application/octet-stream",
    ...(file.size !== undefined && { "Content-Length": String(file.size) }),
  };
  if (file.replace !== undefined)
    return request(client, "PUT", `${path}/files/${encodeURIComponent(file.replace)}/content`, { headers, body });
  return request(client, "POST", `${path}/files`, { query: { name: file.name, section: file.section }, headers, body });
}

/** The same bytes, counted and hashed on their way. Errors: the stream fails when there are more or fewer than `size`. */
export function measured(bytes: Bytes, size: number | undefined, progress?: Progress): { bytes: Bytes; hash: Hash } {
  const hash = createHash("sha256");
  let count = 0;
  const counted = bytes.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        count += chunk.length;
        hash.update(chunk);
        progress?.add(chunk.length);
        controller.enqueue(chunk);
      },
      flush(controller) {
        if (size !== undefined && count !== size)
          controller.error(new CliError("The content has another size than the File says"));
      },
    }),
  );
  return { bytes: counted, hash };
}

/** The SHA-256 of a content, which is read to its end. */
export async function hashOf(bytes: Bytes): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest("hex");
}
