import { sourceFault } from "./error.ts";

/** Bytes of a source as text. */

/** The longest text that is parsed: strings of the runtime end at about 512 MiB. */
const TEXT_BYTES_MAX = 500 * 1024 * 1024;

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark; the mark is dropped. `path` names the text in the error.
 * Errors: throws a TransferError for bytes that are no such text.
 */
export function decodeText(bytes: Uint8Array, path: string): string {
  if (bytes.length > TEXT_BYTES_MAX) throw sourceFault(path, `is larger than ${TEXT_BYTES_MAX / 1024 / 1024} MiB`);
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw sourceFault(path, "is not text in UTF-8");
  }
}

/** The beginning of a file as text, for the detection of its format: bytes that are no UTF-8 become U+FFFD. */
export const headText = (head: Uint8Array): string => new TextDecoder(head[0] === 0xff ? "utf-16le" : "utf-8").decode(head);
