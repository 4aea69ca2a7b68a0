import { ok, type Result } from "./model/result.ts";

/** Reads streams whole, and writes generated pieces into streams. */

/** Writes the pieces into a stream and closes it. An error among them aborts it, so that its end never looks complete. */
export async function pump(pieces: AsyncGenerator<Uint8Array, void>, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter();
  await writePieces(pieces, writer);
  await writer.close();
}

/** Writes the pieces and leaves the stream open. While the stream takes one piece, the next piece is made. */
export async function writePieces<R>(
  pieces: AsyncGenerator<Uint8Array, R>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<R> {
  try {
    let next = await pieces.next();
    while (!next.done) {
      const following = pieces.next();
      following.catch(() => undefined); // awaited below, unless the write fails first
      await writer.write(next.value);
      next = await following;
    }
    return next.value;
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
    await pieces.return(undefined as R);
    throw error;
  }
}

/** Reads a stream whole. `admit` gets the size of the data read. When it fails, nothing further is read. */
export async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  admit: (size: number) => Result<unknown>,
): Promise<Result<Uint8Array>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream ?? []) {
    size += chunk.length;
    const admitted = admit(size);
    if (!admitted.ok) return admitted;
    chunks.push(chunk);
  }
  return ok(new Uint8Array(await new Blob(chunks).arrayBuffer()));
}
