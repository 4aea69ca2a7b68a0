/** Items between the formats and the API: what an import reads from a source, and what an export writes. */

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
  /** The id of that vault in the source, if it has one: several vaults may have one name. */
  readonly vaultId?: string;
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

/** An Item that cannot be read or written, and why: the rest of a sentence that begins with its title. */
export interface Unfit {
  readonly title: string;
  readonly why: string;
}

/** A parsed source. */
export interface Transfer {
  /** A stable name of the source: with `sourceId` it gives the ids of the new Items. */
  readonly source: string;
  readonly items: readonly TransferItem[];
  readonly losses: readonly Loss[];
  /** Items that cannot be read. The others are imported only if the user leaves these out. */
  readonly unfit?: readonly Unfit[];
}
