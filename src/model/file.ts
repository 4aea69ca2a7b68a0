/** A File: bytes attached to an Item. Its content lies in R2, sealed under a key of its own. */
export interface File {
  readonly id: string;
  readonly name: string;
  /** Bytes of the content. */
  readonly size: number;
  /** The id of a section of the Item. */
  readonly section?: string | undefined;
  /** Names the content: a new one for each upload, so that no stored object is ever overwritten. */
  readonly generation: string;
}

/** A File with what opens its content. It stays between the store and whoever seals or opens. */
export interface KeyedFile extends File {
  /** 32 random bytes, in base64. */
  readonly key: string;
}

/** Names a content within its Item. */
export type ContentRef = Pick<File, "id" | "generation">;

/** What the store knows of a File without opening it. */
export type FileRecord = Pick<File, "id" | "generation" | "size">;

/** Where a content belongs: it opens nowhere else. */
export interface ContentPlace {
  readonly vault: string;
  readonly item: string;
  readonly file: string;
  readonly generation: string;
}

/** The place of a File's content. */
export const placeOf = (vault: string, item: string, { id, generation }: ContentRef): ContentPlace => ({
  vault,
  item,
  file: id,
  generation,
});
