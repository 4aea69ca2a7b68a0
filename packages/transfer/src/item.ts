/** Items between the formats and the API: read by an import from a source, or written by an export. */

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
  /** Time at which the source wrote this state, in Unix milliseconds. Only exports use it. */
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
   * The unique id of the Item in the source. The id of the new Item is derived from it, so a repeated import creates nothing. Undefined: the
   * source has no ids, and the runner compares title, URL and username with existing Items. It is never derived from users' text, because ids
   * are stored in plaintext.
   */
  readonly sourceId: string | undefined;
  /** A UUID that the new Item gets instead of a derived id: the source is a service of the same API, whose ids clients use. */
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
  /** The loss in words without a value, such as `dates of the source` or `passkeys`. Losses with the same words are counted together. */
  readonly what: string;
  readonly count: number;
  /** The place of the loss for a report: at most a few titles of Items. They are printed only to the user's own terminal. */
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
  /** Items that cannot be read. Other Items are imported only if the user leaves these out. */
  readonly unfit?: readonly Unfit[];
}
