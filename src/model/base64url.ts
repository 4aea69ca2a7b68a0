/** Formats bytes in unpadded base64url (RFC 4648 section 5). */
export const formatBase64url = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: "base64url", omitPadding: true });

/** Returns undefined for a text that `formatBase64url` does not produce. */
export function parseBase64url(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    return formatBase64url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
