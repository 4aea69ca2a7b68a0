import { createHash, timingSafeEqual, createCipheriv } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { LIMITS } from "@item-vault/model/limits";
import { sourceFault } from "../../error.ts";
import type { ReadOptions } from "../../format.ts";
import { decodeText } from "../../text.ts";
import { ByteReader, numberOf } from "./bytes.ts";
import { isKdbx, parseHeader, type Header } from "./header.ts";
import { transformKey } from "./kdf.ts";
import { openPayload, unpackedLimit } from "./payload.ts";
import { childOf, childrenOf, parseXml, textOf, type XmlElement } from "./xml.ts";

/** A database: its document, with the protected values in clear, and the attachments by their numbers. */
export interface Database {
  readonly root: XmlElement;
  readonly binaries: ReadonlyMap<string, Uint8Array>;
  /** The bytes of an attachment that stands in the document. */
  readonly unpack: (binary: XmlElement) => Uint8Array;
}

/** Opens a KDBX file, or KeePass's XML. Throws a TransferError; a RangeError means that the bytes end too early. */
export async function openDatabase(bytes: Uint8Array, options: ReadOptions): Promise<Database> {
  if (!isKdbx(bytes) && /^\uFEFF?\s*</.test(Buffer.from(bytes.subarray(0, 64)).toString("utf8")))
    return readDocument(parseXml(decodeText(bytes, "The file"), "The file"), new Map(), unpacker(bytes.length));
  const header = parseHeader(bytes);
  const transformed = await transformKey(compositeKey(await options.password(), options.keyFile), header.kdf);
  const payload = openPayload(header, transformed);
  const { stream, binaries, xml } = header.version === 4 ? readInnerHeader(payload) : { ...streamOf(header), xml: payload };
  const root = parseXml(decodeText(xml, "The document"), "The document");
  checkHeader(root, header);
  return readDocument(root, binaries, unpacker(payload.length), stream);
}

/** Version 3 has the hash of its header in the document: without it, a changed key of the inner stream would change every secret. */
function checkHeader(root: XmlElement, { version, bytes }: Header): void {
  const hash = textOf(childOf(childOf(root, "Meta"), "HeaderHash")).trim();
  if (version === 3 && hash !== "" && hash !== createHash("sha256").update(bytes).digest("base64"))
    throw sourceFault("The file", "is damaged: the hash of its header is wrong");
}

const streamOf = ({ streamId, streamKey }: Header) => ({
  stream: innerStream(streamId, streamKey),
  binaries: new Map<string, Uint8Array>(),
});

/** The inner header of version 4: the stream, its key, and the attachments in the order of their numbers. */
function readInnerHeader(payload: Uint8Array) {
  const reader = new ByteReader(payload);
  const binaries = new Map<string, Uint8Array>();
  let [id, key] = [0, new Uint8Array()];
  for (let field = reader.number(1); ; field = reader.number(1)) {
    const value = reader.take(reader.number(4));
    if (field === 0) break;
    if (field === 1) id = numberOf(value);
    if (field === 2) key = Uint8Array.from(value);
    if (field === 3) binaries.set(String(binaries.size), value.subarray(1)); // a byte of flags
  }
  return { stream: innerStream(id, key), binaries, xml: reader.rest() };
}

function readDocument(
  root: XmlElement,
  binaries: Map<string, Uint8Array>,
  unpack: Database["unpack"],
  stream?: Unprotect,
): Database {
  if (root.name !== "KeePassFile" || !childOf(root, "Root")) throw sourceFault("The file", "is no KeePass database");
  const raw = new Map<XmlElement, Uint8Array>();
  if (stream) unprotect(root, stream, raw);
  for (const binary of childrenOf(childOf(childOf(root, "Meta"), "Binaries"), "Binary"))
    binaries.set(binary.attributes["ID"] ?? "", raw.get(binary) ?? unpack(binary));
  return { root, binaries, unpack };
}

const isTrue = (text: string | undefined): boolean => text?.toLowerCase() === "true";

/** Decrypts protected values in the order of the document. `raw` gets their bytes, because binaries are not text. */
function unprotect(element: XmlElement, stream: Unprotect, raw: Map<XmlElement, Uint8Array>): void {
  if (isTrue(element.attributes["Protected"])) {
    const value = stream(Buffer.from(element.text, "base64"));
    raw.set(element, value);
    element.text = element.name === "Value" ? decodeText(value, "A protected value") : "";
  }
  for (const child of element.children) unprotect(child, stream, raw);
}

/** Returns a function that unpacks base64 binaries, which may be compressed, up to a total limit. `length` is the length of the document. */
function unpacker(length: number): Database["unpack"] {
  let left = unpackedLimit(length);
  return (binary) => {
    const bytes = Buffer.from(textOf(binary), "base64");
    if (!isTrue(binary.attributes["Compressed"])) return bytes;
    try {
      const content = gunzipSync(bytes, { maxOutputLength: Math.max(1, Math.min(left, LIMITS.file)) });
      left -= content.length;
      return content;
    } catch {
      throw sourceFault("An attachment", "is damaged, or larger than it can honestly be");
    }
  };
}

const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/**
 * The composite key (keepass.info/help/base/keys.html): SHA-256 over the hash of the password and the key of the key file. With a key
 * file, an empty password counts as none.
 */
function compositeKey(password: string, keyFile: Uint8Array | undefined): Uint8Array {
  const parts = [...(password === "" && keyFile ? [] : [sha256(password)]), ...(keyFile ? [keyOfFile(keyFile)] : [])];
  return sha256(...parts);
}

/** A key file: XML of version 1 (base64) or 2 (hexadecimal with a hash), 32 bytes, 64 hexadecimal digits, or any other file. */
function keyOfFile(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  if (/^(\xef\xbb\xbf)?\s*(<\?xml|<KeyFile)/.test(text) && text.includes("<KeyFile")) return keyOfXml(text);
  if (bytes.length === 32) return bytes;
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : sha256(bytes);
}

function keyOfXml(text: string): Uint8Array {
  const file = parseXml(text.replace("\xef\xbb\xbf", ""), "The key file");
  const data = childOf(childOf(file, "Key"), "Data");
  const content = textOf(data).replaceAll(/\s/g, "");
  const version = textOf(childOf(childOf(file, "Meta"), "Version")).trim();
  const key = Buffer.from(content, version.startsWith("2") ? "hex" : "base64");
  const hash = Buffer.from(data?.attributes["Hash"] ?? "", "hex");
  const damaged = hash.length > 0 && !(hash.length === 4 && timingSafeEqual(sha256(key).subarray(0, 4), hash));
  if (key.length !== 32 || damaged) throw sourceFault("The key file", "is damaged");
  return key;
}

/** The inner stream of KDBX: protected values are XORed with it, one after the other in the order of the document. */
type Unprotect = (bytes: Uint8Array) => Uint8Array;

const STREAMS: Readonly<Record<number, (key: Uint8Array) => Unprotect>> = { 2: salsa20, 3: chacha20 };

/** Opens the inner stream. Throws a TransferError for an unknown stream. */
function innerStream(id: number, key: Uint8Array): Unprotect {
  const stream = STREAMS[id];
  if (!stream) throw sourceFault("The file", "protects values with a stream other than ChaCha20 and Salsa20");
  return stream(key);
}

/** ChaCha20 (RFC 8439); key and nonce are parts of the key's SHA-512. */
function chacha20(key: Uint8Array): Unprotect {
  const digest = createHash("sha512").update(key).digest();
  const cipher = createCipheriv("chacha20", digest.subarray(0, 32), Buffer.concat([Buffer.alloc(4), digest.subarray(32, 44)]));
  return (bytes) => cipher.update(bytes);
}

const NONCE = [0x4b0930e8, 0x2a5d2097] as const; // E830094B 97205D2A
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const; // "expand 32-byte k"

/** Salsa20 (cr.yp.to/snuffle/spec.pdf); the key is the SHA-256 of the given one. */
function salsa20(key: Uint8Array): Unprotect {
  const digest = createHash("sha256").update(key).digest();
  const k = Array.from({ length: 8 }, (_, n) => digest.readUInt32LE(n * 4));
  let counter = 0;
  let block: Uint8Array = Buffer.alloc(0);
  let used = 0;
  const next = (): number => {
    if (used === block.length) {
      const words = [SIGMA[0], ...k.slice(0, 4), SIGMA[1], ...NONCE, counter++, 0, SIGMA[2], ...k.slice(4), SIGMA[3]];
      [block, used] = [salsaBlock(Uint32Array.from(words)), 0];
    }
    return block[used++]!;
  };
  return (bytes) => bytes.map((byte) => byte ^ next());
}

/** The quarter rounds of a double round: four on columns, four on rows. */
const QUARTERS = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const;

const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

function salsaBlock(input: Uint32Array): Uint8Array {
  const x = Uint32Array.from(input);
  for (let round = 0; round < 10; round++) {
    for (const [a, b, c, d] of QUARTERS) {
      x[b]! ^= rotate((x[a]! + x[d]!) | 0, 7);
      x[c]! ^= rotate((x[b]! + x[a]!) | 0, 9);
      x[d]! ^= rotate((x[c]! + x[b]!) | 0, 13);
      x[a]! ^= rotate((x[d]! + x[c]!) | 0, 18);
    }
  }
  const output = Buffer.alloc(64);
  for (const [n, word] of x.entries()) output.writeUInt32LE((word + input[n]!) >>> 0, n * 4);
  return output;
}
