/** The methods of Uint8Array for base64 and hexadecimal (ECMAScript 2026), which workerd has and Node 24 has not. */

interface Base64Options {
  readonly alphabet?: "base64" | "base64url";
  readonly omitPadding?: boolean;
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** Throws on every spelling that is not the canonical one, as the strict mode of the standard does. */
function fromBase64(text: string, { alphabet = "base64" }: Base64Options = {}): Uint8Array {
  const bytes = Buffer.from(text, alphabet);
  if (bytes.toString(alphabet) !== text) throw new SyntaxError("not base64");
  return new Uint8Array(bytes);
}

function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}

function toBase64(this: Uint8Array, { alphabet = "base64" }: Base64Options = {}): string {
  return bufferOf(this).toString(alphabet);
}

function toHex(this: Uint8Array): string {
  return bufferOf(this).toString("hex");
}

function setFromHex(this: Uint8Array, text: string): { read: number; written: number } {
  const written = bufferOf(this).write(text, "hex");
  return { read: 2 * written, written };
}

export function addByteMethods(): void {
  Object.assign(Uint8Array, { fromBase64, fromHex });
  Object.assign(Uint8Array.prototype, { toBase64, toHex, setFromHex });
}
