import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { LIMITS } from "@item-vault/model/limits";
import type { ReadOptions } from "../../format.ts";
import { sourceFault } from "../../error.ts";
import { decodeText } from "../../text.ts";
import { ByteReader, numberOf } from "./bytes.ts";
import { isKdbx, parseHeader, type Header } from "./header.ts";
import { transformKey } from "./kdf.ts";
import { compositeKey } from "./key.ts";
import { openPayload, unpackedLimit } from "./payload.ts";
import { innerStream, type Unprotect } from "./stream.ts";
import { childOf, childrenOf, parseXml, textOf, type XmlElement } from "./xml.ts";

/** A database: its document, with the protected values in clear, and the attachments by their numbers. */
export interface Database {
  readonly root: XmlElement;
  readonly binaries: ReadonlyMap<string, Uint8Array>;
  /** The bytes of an attachment that stands in the document. */
  readonly unpack: (binary: XmlElement) => Uint8Array;
}

/** Opens a KDBX file, or KeePass's XML. Errors: throws a TransferError; a RangeError is one too early end of the bytes. */
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

/** Decrypts protected values in the order of the document. In: gets their bytes, because binaries are no text. */
function unprotect(element: XmlElement, stream: Unprotect, raw: Map<XmlElement, Uint8Array>): void {
  if (isTrue(element.attributes["Protected"])) {
    const value = stream(Buffer.from(element.text, "base64"));
    raw.set(element, value);
    element.text = element.name === "Value" ? decodeText(value, "A protected value") : "";
  }
  for (const child of element.children) unprotect(child, stream, raw);
}

/** Unpacks binaries in base64, which may be compressed, up to a limit for all together. In: the length of the document. */
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
