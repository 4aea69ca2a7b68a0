import type { ImportFormat } from "../model.ts";
import { headText } from "../text.ts";

/** KeePass 2, KeePassXC and others: KDBX 3.1 and 4 (keepass.info/help/kb/kdbx_4.html), and the XML that they export. */
export const keepass: ImportFormat = {
  name: "keepass",
  summary: "KeePass: a KDBX database, or its XML export",
  matches: (head) =>
    (head[0] === 3 && head[1] === 0xd9 && head[2] === 0xa2 && head[3] === 0x9a) || /<KeePassFile[\s>]/.test(headText(head)),
  read: async (bytes, options) => (await import("./keepass/read.ts")).readKeePass(bytes, options),
};
