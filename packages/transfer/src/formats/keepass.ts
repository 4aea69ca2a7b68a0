import type { ImportFormat } from "../format.ts";
import { isKeePassFile } from "./keepass-file.ts";

/** KeePass 2, KeePassXC and others: KDBX 3.1 and 4 (keepass.info/help/kb/kdbx_4.html), and the XML that they export. */
export const keepass: ImportFormat = {
  name: "keepass",
  summary: "KeePass: a KDBX database, or its XML export",
  matches: isKeePassFile,
  read: async (bytes, options) => (await import("./keepass/read.ts")).readKeePass(bytes, options),
};
