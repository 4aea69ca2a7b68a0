import { concat } from "../../crypto/bytes.ts";
import type { ContentAddress } from "../../model/file.ts";
import { idBytes } from "../../model/ids.ts";

/** Returns the R2 key of a content: only ids, never a user's name. An object is created once and never overwritten. */
export const contentKey = ({ vault, file, generation }: ContentAddress): string => `${vault}/${file}/${generation}`;

/** Returns the context with which a content is sealed. At another address it cannot be decrypted. */
export const contextOf = ({ vault, item, file, generation }: ContentAddress): Uint8Array =>
  concat(...[vault, item, file, generation].map(idBytes));
