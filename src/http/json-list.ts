import { logFailure } from "../log.ts";
import { pump } from "../streams.ts";
import { type Context, traceOf } from "./context.ts";

/** Answers that are a JSON list and are written in pieces, so that they are never whole in memory. */

const encoder = new TextEncoder();

/**
 * Streams a list. `groups` has the texts of the elements; each group is written as one piece. If a group throws, the answer ends
 * before the list is complete.
 */
export function streamList(c: Context, groups: Iterable<readonly string[]> | AsyncIterable<readonly string[]>): Response {
  const type = { "Content-Type": "application/json" };
  if (c.req.method === "HEAD") return c.body(null, 200, type);
  const { readable, writable } = new IdentityTransformStream();
  pump(piecesOf(groups), writable).catch((error: unknown) => logFailure("A list", error, traceOf(c)));
  return c.body(readable, 200, type);
}

async function* piecesOf(
  groups: Iterable<readonly string[]> | AsyncIterable<readonly string[]>,
): AsyncGenerator<Uint8Array, void> {
  let separator = "[";
  for await (const texts of groups) {
    if (texts.length === 0) continue;
    yield encoder.encode(separator + texts.join());
    separator = ",";
  }
  yield encoder.encode(separator === "[" ? "[]" : "]");
}
