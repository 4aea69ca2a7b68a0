import { admitBytes, type Share } from "../memory-budget.ts";
import { LIMITS } from "../model/limits.ts";
import { fail, invalid, map, ok, type Result } from "../model/result.ts";
import { readStream } from "../streams.ts";

/** A request's body, within bounds. */
export interface Body {
  readonly bytes: Uint8Array;
  readonly json: unknown;
}

/** Returns true if a body is compressed. No endpoint accepts compressed bodies. */
export const isEncoded = (request: Request): boolean =>
  (request.headers.get("Content-Encoding") || "identity").toLowerCase() !== "identity";

/**
 * Reads a JSON body (RFC 8259) of at most `limit` bytes with any Content-Type, and counts its bytes. Fails with 400, 413 or 415,
 * which do not quote the body, and with `rate`.
 */
export async function parseBody(request: Request, limit: number = LIMITS.body, share?: Share): Promise<Result<Body>> {
  if (isEncoded(request)) return fail("encoding");
  const bytes = await readBytes(request, limit, share);
  if (!bytes.ok) return bytes;
  return map(parse(bytes.value), (json) => ({ bytes: bytes.value, json }));
}

/**
 * Reads a body within a limit in bytes, and counts them. Fails with 413; with 400 when the client breaks the body off, or does not keep to its framing;
 * with `rate`.
 */
export async function readBytes(request: Request, limit: number, share?: Share): Promise<Result<Uint8Array>> {
  try {
    return await readWithinBounds(request, limit, share);
  } catch {
    return invalid("the body ended early, or is not what its headers say");
  }
}

async function readWithinBounds(request: Request, limit: number, share: Share | undefined): Promise<Result<Uint8Array>> {
  const tooLarge = fail("body_too_large", String(limit));
  const declared = request.headers.get("Content-Length");
  if (declared !== null) {
    // The runtime enforces the declared length of the body.
    if (!(Number(declared) <= limit)) return tooLarge;
    const admitted = admitBytes(share, Number(declared));
    return admitted.ok ? ok(new Uint8Array(await request.arrayBuffer())) : admitted;
  }
  return readStream(request.body, (size) => (size > limit ? tooLarge : admitBytes(share, size)));
}

function parse(bytes: Uint8Array): Result<unknown> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    if (!isShallow(text)) return invalid(`the body is nested more than ${LIMITS.jsonDepth} deep`);
    return ok(JSON.parse(text));
  } catch {
    return invalid("the body is not valid JSON"); // the error quotes it
  }
}

/** Returns true if arrays and objects nest within the limit. This is checked before JSON.parse builds them. */
function isShallow(text: string): boolean {
  let depth = 0;
  // A string is skipped as a whole. JSON.parse refuses an unterminated string.
  for (const [token] of text.matchAll(/"(?:[^"\\]+|\\.)*"?|[[\]{}]/gs)) {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > LIMITS.jsonDepth) return false;
  }
  return true;
}
