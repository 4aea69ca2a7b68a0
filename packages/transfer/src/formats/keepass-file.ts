import { headText } from "../text.ts";

/**
 * Returns true if a file comes from KeePass. `head` is its first 4 KiB. The console recognizes such files, and names the command that reads
 * them.
 */
export const isKeePassFile = (head: Uint8Array): boolean =>
  (head[0] === 3 && head[1] === 0xd9 && head[2] === 0xa2 && head[3] === 0x9a) || /<KeePassFile[\s>]/.test(headText(head));
