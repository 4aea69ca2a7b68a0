/** A File: bytes attached to an Item. Its content is in R2, sealed under a key of its own. */
export interface File {
  readonly id: string;
  readonly name: string;
  /** Bytes of the content. */
  readonly size: number;
  /** The id of a section of the Item. */
  readonly section?: string | undefined;
  /** The generation of the content: a new id for each upload, so that no stored object is overwritten. */
  readonly generation: string;
}

/** A File with the key of its content. No presenter gets it. */
export interface KeyedFile extends File {
  /** 32 random bytes, in base64. */
  readonly key: string;
}

/** Identifies a content within its Item. */
export type ContentRef = Pick<File, "id" | "generation">;

/** The plain columns of a File's row. */
export type FileRecord = Pick<File, "id" | "generation" | "size">;

/** The ids that name a content. With other ids the content cannot be decrypted. */
export interface ContentAddress {
  readonly vault: string;
  readonly item: string;
  readonly file: string;
  readonly generation: string;
}

/** Returns the address of a File's content. */
export const addressOf = (vault: string, item: string, { id, generation }: ContentRef): ContentAddress => ({
  vault,
  item,
  file: id,
  generation,
});
