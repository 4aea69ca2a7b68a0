import * as z from "zod/mini";

/** The progress of an export of the log (contract 23.4). It is opaque to clients, and contains no secret. */

const position = z.strictObject({
  /** `2026-11-21`, UTC. */
  day: z.string().check(z.regex(/^[+-]?\d{4,6}-\d{2}-\d{2}$/)),
  /** The log of segments and the id with which the next page begins; empty at the beginning. */
  place: z.tuple([z.string().check(z.maxLength(128)), z.string().check(z.maxLength(128))]),
});

export type ExportPosition = Readonly<z.infer<typeof position>>;

/** Returns the position at the beginning of a day. */
export const startOf = (day: string): ExportPosition => ({ day, place: ["", ""] });

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
