import * as z from "zod/mini";

/** The progress of an export of the log (contract 23.4). It is opaque to clients, and contains no secret. */

/**
 * The parts of a day, in their order: numbered objects of rows, rows that are still in D1, and segments.
 * `moved`: numbered objects with entries that were in D1 when the export came to them.
 */
const STAGES = ["numbers", "rows", "moved", "segments"] as const;

const position = z.strictObject({
  /** `2026-11-21`, UTC. */
  day: z.string().check(z.regex(/^[+-]?\d{4,6}-\d{2}-\d{2}$/)),
  stage: z.enum(STAGES),
  /** The next numbered object. */
  number: z.int().check(z.minimum(0), z.maximum(999_999_999)),
  /** The log and the id of the last segment that was shown whole; empty at the beginning. */
  after: z.string().check(z.maxLength(128)),
  /** The number of entries of the next object that were shown. */
  index: z.int().check(z.minimum(0), z.maximum(999_999_999)),
  /** The log and the id of the last entry that was shown from D1; empty at the beginning. */
  floor: z.tuple([z.string().check(z.maxLength(40)), z.string().check(z.maxLength(40))]),
});

export type ExportPosition = Readonly<z.infer<typeof position>>;

/** Returns the position at the beginning of a day. */
export const startOf = (day: string): ExportPosition => ({
  day,
  stage: "numbers",
  number: 0,
  after: "",
  index: 0,
  floor: ["", ""],
});

export const formatPosition = (value: ExportPosition): string =>
  new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });

/** Returns undefined for a text that `formatPosition` does not produce. */
export function parsePosition(text: string): ExportPosition | undefined {
  if (!/^[\w-]{1,1024}$/.test(text)) return undefined;
  try {
    const parsed = position.safeParse(
      JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: "base64url" }))),
    );
    return parsed.success && !Number.isNaN(Date.parse(parsed.data.day)) ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
