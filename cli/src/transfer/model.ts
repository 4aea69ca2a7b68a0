/** What an import reads from a source and what an export writes: the shapes between the formats and the API. */

/** A field as a request to the API has it (contract 2.4). */
export interface TransferField {
  readonly id?: string;
  readonly type?: string;
  readonly purpose?: string;
  readonly label?: string;
  readonly value?: string;
  readonly section?: { readonly id: string; readonly label?: string };
}

/** The attributes of an Item that a version of it has. */
export interface TransferState {
  readonly title: string;
  readonly category: string;
  readonly favorite?: boolean;
  readonly tags: readonly string[];
  readonly urls: readonly { readonly href: string; readonly label?: string; readonly primary?: boolean }[];
  readonly sections: readonly { readonly id: string; readonly label?: string }[];
  readonly fields: readonly TransferField[];
  /** When the source wrote this state: Unix milliseconds. Only exports use it. */
  readonly changedAt?: number;
}

export interface TransferFile {
  readonly name: string;
  /** The id of the section that shows the File. */
  readonly section?: string;
  readonly size: number;
  readonly read: () => Promise<Uint8Array>;
}

export interface TransferItem extends TransferState {
  /**
   * The id of the Item in the source, unique there. The id of the new Item is derived from it, so that the same import a second
   * time creates nothing. `undefined`: the source has no ids; the runner compares title, URL and username with what is there.
   * It is never derived from what a user typed, because ids are stored in the clear.
   */
  readonly sourceId: string | undefined;
  /** A UUID that the new Item gets instead of a derived one: the source is a service of the same API, whose ids clients refer to. */
  readonly id?: string;
  /** The name of the Item's vault in the source; `undefined` when the source has none. */
  readonly vault: string | undefined;
  readonly archived: boolean;
  /** Unix milliseconds. The service sets its own dates, so these are counted as lost. */
  readonly createdAt?: number;
  readonly updatedAt?: number;
  readonly files: readonly TransferFile[];
  /** Earlier states, the oldest first: they are written first and become versions. */
  readonly history: readonly TransferState[];
}

/** Something that the target cannot hold. */
export interface Loss {
  /** What is lost, in words that name no value: `dates of the source`, `passkeys`. Losses with the same words are counted together. */
  readonly what: string;
  readonly count: number;
  /** Where it was found, for a report: titles of Items, at most a few. They are printed to the user's own terminal only. */
  readonly examples?: readonly string[];
}

/** A parsed source. */
export interface Transfer {
  /** A stable name of the source: with `sourceId` it gives the ids of the new Items. */
  readonly source: string;
  readonly items: readonly TransferItem[];
  readonly losses: readonly Loss[];
}

export interface ReadOptions {
  /** Asks the user for the password of the source. */
  readonly password: () => Promise<string>;
  /** The name of the file without its folders. */
  readonly fileName: string;
  /** Whether Items in the trash of the source are read too. Else they are skipped and counted. */
  readonly includeTrash?: boolean;
  /** The content of a key file that opens the source together with its password, or alone. */
  readonly keyFile?: Uint8Array;
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
  /** Whether a file is of this format. In: its first 4 KiB and its name. */
  matches(head: Uint8Array, fileName: string): boolean;
  /** Errors: throws a CliError that names the path of the fault, never a value. Nothing has been written then. */
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
