import type { Loss, Transfer, TransferItem } from "./item.ts";

/** A format of files, for imports and exports. */

export interface ReadOptions {
  /** Asks the user for the password of the source. */
  readonly password: () => Promise<string>;
  /** The name of the file without its folders. */
  readonly fileName: string;
  /** True if Items in the trash of the source are read. Otherwise they are skipped and counted. */
  readonly includeTrash?: boolean;
  /** The content of a key file that decrypts the source, with or without its password. */
  readonly keyFile?: Uint8Array;
  /** The user's choice for columns of a CSV file, by their names in lower case. */
  readonly columns?: ReadonlyMap<string, string> | undefined;
  /** Argon2id (RFC 9106). Absent where WebAssembly is forbidden: then sources that need it are refused. */
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
  /** The value of `--format`. */
  readonly name: string;
  readonly summary: string;
  /** True if the user may assign the columns of a file. */
  readonly hasColumns?: true;
  /** Returns true if a file has this format. `head` is its first 4 KiB. */
  matches(head: Uint8Array, fileName: string): boolean;
  /** Reads a file. Throws a TransferError that names the path of the fault, never a value. Nothing has been written then. */
  read(bytes: Uint8Array, options: ReadOptions): Promise<Transfer>;
}

const HEAD_BYTES = 4096;

/** The formats whose signs a file has. */
export function matchingFormats(formats: readonly ImportFormat[], bytes: Uint8Array, fileName: string): ImportFormat[] {
  const head = bytes.subarray(0, HEAD_BYTES);
  return formats.filter((format) => format.matches(head, fileName));
}

/** A format that `export` writes. */
export interface ExportFormat {
  readonly name: string;
  readonly summary: string;
  /** True if it encrypts with a password. */
  readonly encrypts?: true;
  /** Returns the content of the file, and the losses of the format. */
  write(items: readonly TransferItem[], options: { readonly password?: string }): Promise<{ bytes: Uint8Array; losses: Loss[] }>;
}
