import { concat } from "../../crypto/bytes.ts";
import type { ContentAddress } from "../../model/file.ts";
import { idBytes } from "../../model/ids.ts";

/** The R2 key of a content: ids alone, never a user's name. An object is created once and never overwritten. */
export const contentKey = ({ vault, file, generation }: ContentAddress): string => `${vault}/${file}/${generation}`;

/** The context that a content is sealed with: it opens at no other address. */
export const contextOf = ({ vault, item, file, generation }: ContentAddress): Uint8Array =>
  concat(...[vault, item, file, generation].map(idBytes));
