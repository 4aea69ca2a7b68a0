import { sourceFault } from "../../error.ts";
import { ByteReader, hexOf, numberOf } from "./bytes.ts";

/** The outer header of a KDBX file (keepass.info/help/kb/kdbx_4.html), version 3.1 or 4. */

export interface Header {
  readonly version: 3 | 4;
  /** All bytes up to the end of the header, which its hash and its authentication code cover. */
  readonly bytes: Uint8Array;
  /** The bytes after the header. */
  readonly body: Uint8Array;
  readonly cipher: string;
  readonly compressed: boolean;
  readonly masterSeed: Uint8Array;
  readonly iv: Uint8Array;
  readonly kdf: Kdf;
  /** Only version 3: in version 4 it is in the inner header. */
  readonly streamKey: Uint8Array;
  readonly streamId: number;
  readonly startBytes: Uint8Array;
}

/** The key derivation: its UUID in hexadecimal, and its parameters by their names. */
export interface Kdf {
  readonly id: string;
  readonly parameters: ReadonlyMap<string, Uint8Array>;
}

const FIELD = {
  cipher: 2,
  compression: 3,
  masterSeed: 4,
  transformSeed: 5,
  transformRounds: 6,
  iv: 7,
  streamKey: 8,
  startBytes: 9,
  streamId: 10,
  kdf: 11,
} as const;

export const AES_KDF = "c9d9f39a628a4460bf740d08c18a4fea";
const SIGNATURES = { first: 0x9aa2d903, kdbx: 0xb54bfb67, kdb: 0xb54bfb65 };

export const isKdbx = (head: Uint8Array): boolean => head.length >= 8 && numberOf(head.subarray(0, 4)) === SIGNATURES.first;

/** Parses a header. Throws a TransferError for another version, and a RangeError if the bytes end too early. */
export function parseHeader(bytes: Uint8Array): Header {
  const reader = new ByteReader(bytes);
  const [first, second] = [reader.number(4), reader.number(4)];
  if (first === SIGNATURES.first && second === SIGNATURES.kdb)
    throw sourceFault("The file", "is a database of KeePass 1. Open it with KeePass 2 or KeePassXC and save it as KDBX");
  if (first !== SIGNATURES.first || second !== SIGNATURES.kdbx) throw sourceFault("The file", "is no KeePass database");
  reader.number(2);
  const version = reader.number(2);
  if (version !== 3 && version !== 4) throw sourceFault("The file", "has a version of KDBX other than 3.1 and 4");
  const fields = readFields(reader, version === 4 ? 4 : 2);
  const field = (name: keyof typeof FIELD) => fields.get(FIELD[name]) ?? new Uint8Array();
  const old = new Map([
    ["S", field("transformSeed")],
    ["R", field("transformRounds")],
  ]);
  return {
    version,
    bytes: bytes.subarray(0, reader.position),
    body: bytes.subarray(reader.position),
    cipher: hexOf(field("cipher")),
    compressed: numberOf(field("compression")) === 1,
    masterSeed: field("masterSeed"),
    iv: field("iv"),
    kdf: version === 4 ? parseKdf(field("kdf")) : { id: AES_KDF, parameters: old },
    streamKey: field("streamKey"),
    streamId: numberOf(field("streamId")),
    startBytes: field("startBytes"),
  };
}

/** Reads fields up to the field with number 0. `width` is the bytes of a length. */
function readFields(reader: ByteReader, width: 2 | 4): Map<number, Uint8Array> {
  const fields = new Map<number, Uint8Array>();
  for (let id = reader.number(1); id !== 0; id = reader.number(1)) fields.set(id, reader.take(reader.number(width)));
  reader.take(reader.number(width));
  return fields;
}

/** A VariantDictionary. */
function parseKdf(bytes: Uint8Array): Kdf {
  const reader = new ByteReader(bytes);
  reader.number(2); // its version
  const parameters = new Map<string, Uint8Array>();
  while (reader.number(1) !== 0) {
    const name = Buffer.from(reader.take(reader.number(4))).toString("utf8");
    parameters.set(name, reader.take(reader.number(4)));
  }
  return { id: hexOf(parameters.get("$UUID") ?? new Uint8Array()), parameters };
}
