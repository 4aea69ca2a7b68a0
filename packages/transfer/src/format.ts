import type { Loss, Transfer, TransferItem } from "./item.ts";

/** What a format of files is to an import and to an export. */

export interface ReadOptions {
  /** Asks the user for the password of the source. */
  readonly password: () => Promise<string>;
  /** The name of the file without its folders. */
  readonly fileName: string;
  /** Whether Items in the trash of the source are read too. Else they are skipped and counted. */
  readonly includeTrash?: boolean;
  /** The content of a key file that opens the source together with its password, or alone. */
  readonly keyFile?: Uint8Array;
  /** What columns of a CSV file are, by their names in lower case, as the user chose. */
  readonly columns?: ReadonlyMap<string, string> | undefined;
  /** Argon2id (RFC 9106). Absent where WebAssembly may not run: then sources that need it are refused. */
  readonly argon2id?: Argon2id;
}

export type Argon2id = (parameters: {
  readonly password: string;
  readonly salt: Uint8Array;
  readonly iterations: number;
  readonly memorySize: number; // KiB
  readonly parallelism: number;
  readonly hashLength: number;
  readonly outputType: "binary";
}) => Promise<Uint8Array>;

/** A format that `import` reads. */
export interface ImportFormat {
  /** What `--format` takes. */
  readonly name: string;
  readonly summary: string;
  /** Whether the user may say what the columns of a file are. */
  readonly hasColumns?: true;
  /** Whether a file is of this format. In: its first 4 KiB and its name. */
  matches(head: Uint8Array, fileName: string): boolean;
  /** Errors: throws a TransferError that names the path of the fault, never a value. Nothing has been written then. */
  read(bytes: Uint8Array, options: ReadOptions): Promise<Transfer>;
}

const HEAD_BYTES = 4096;

/** The formats of which a file has the signs. */
export function matchingFormats(formats: readonly ImportFormat[], bytes: Uint8Array, fileName: string): ImportFormat[] {
  const head = bytes.subarray(0, HEAD_BYTES);
  return formats.filter((format) => format.matches(head, fileName));
}

/** A format that `export` writes. */
export interface ExportFormat {
  readonly name: string;
  readonly summary: string;
  /** Whether it encrypts with a password. */
  readonly encrypts?: true;
  /** The content of the file, and what the format cannot hold. */
  write(items: readonly TransferItem[], options: { readonly password?: string }): Promise<{ bytes: Uint8Array; losses: Loss[] }>;
}
