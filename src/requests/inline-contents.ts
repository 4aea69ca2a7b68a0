import type { KeyedFile } from "../model/file.ts";
import { placeOf } from "../model/file.ts";
import { LIMITS } from "../model/limits.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { loadContent } from "../store/contents/download.ts";
import type { Store } from "../store/d1/database.ts";
import { filesOf } from "../store/buckets/r2.ts";

/** The contents of Files in the answer to references (contract 16.8). */

/** A content as a JSON string. */
export interface InlineContent {
  readonly value: string;
  /** Absent: the value is the text itself. */
  readonly encoding?: "base64";
}

/**
 * Loads contents, each once, within the limits of one answer. Out: a function that is called for one File after the other.
 * Errors: `too_large_to_inline`, and those of loading a content.
 */
export function createInliner({
  env,
  store,
}: {
  readonly env: Env;
  readonly store: Store;
}): (vault: string, item: string, file: KeyedFile) => Promise<Result<InlineContent>> {
  const contents = new Map<string, Promise<Result<Uint8Array>>>();
  let sum = 0;
  return async (vault, item, file) => {
    // Before the first await: the Files are counted in the order of the calls.
    if (file.size > store.settings.inlineLimit || sum + file.size > LIMITS.inlined) return fail("too_large_to_inline");
    sum += file.size;
    const content = contents.get(file.generation) ?? loadContent(filesOf(env), placeOf(vault, item, file), file);
    contents.set(file.generation, content);
    const loaded = await content;
    return loaded.ok ? ok(toText(loaded.value)) : loaded;
  };
}

function toText(bytes: Uint8Array): InlineContent {
  try {
    return { value: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { value: bytes.toBase64(), encoding: "base64" };
  }
}
