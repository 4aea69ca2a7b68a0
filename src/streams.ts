/** Writes generated pieces into streams. */

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
