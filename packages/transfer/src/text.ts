import { sourceFault, TransferError } from "./error.ts";

/** Bytes of a source as text. */

/** The longest text that is parsed: strings of the runtime end at about 512 MiB. */
const TEXT_BYTES_MAX = 500 * 1024 * 1024;

/** Byte order marks. */
const MARKS = { "UTF-16LE": [0xff, 0xfe], "UTF-16BE": [0xfe, 0xff] } as const;

const encodingOf = ([first, second]: Uint8Array): string =>
  Object.entries(MARKS).find(([, mark]) => mark[0] === first && mark[1] === second)?.[0] ?? "UTF-8";

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark, and drops the mark. Throws a TransferError with `path` and the encoding for other bytes.
 */
export function decodeText(bytes: Uint8Array, path: string): string {
  if (bytes.length > TEXT_BYTES_MAX) throw sourceFault(path, `is larger than ${TEXT_BYTES_MAX / 1024 / 1024} MiB`);
  const [first, second] = bytes;
  if (second !== undefined && (first === 0) !== (second === 0))
    throw wrongEncoding(path, "is UTF-16 text without a byte order mark");
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw wrongEncoding(path, `is not ${encoding} text`);
  }
}

const wrongEncoding = (path: string, fault: string): TransferError =>
  new TransferError(`${path} ${fault}`, "Nothing was imported. Save it as UTF-8 and try again.");

/** The beginning of a file as text, for the detection of its format: bytes that are no UTF-8 become U+FFFD. */
export const headText = (head: Uint8Array): string => new TextDecoder(encodingOf(head)).decode(head);
