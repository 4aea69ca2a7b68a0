import type { ImportFormat } from "../format.ts";
import { headText } from "../text.ts";

/** 1Password's 1PUX (support.1password.com/1pux-format). */
export const onePuxImport: ImportFormat = {
  name: "1pux",
  summary: "1Password (1PUX), with files and earlier passwords",
  matches: (head, fileName) =>
    head[0] === 0x50 && head[1] === 0x4b && (/\.1pux$/i.test(fileName) || headText(head).includes("export.")),
  read: async (bytes, options) => (await import("./onepux/read.ts")).readOnePux(bytes, options),
};
