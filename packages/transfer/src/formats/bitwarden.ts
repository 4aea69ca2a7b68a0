import type { ImportFormat } from "../format.ts";
import { headText } from "../text.ts";
import { isArchive } from "../zip.ts";

/**
 * Bitwarden's export (bitwarden.com/help/export-your-data, condition-bitwarden-import, encrypted-export). Folders and collections
 * become tags, earlier passwords become versions.
 */
export const bitwarden: ImportFormat = {
  name: "bitwarden",
  summary: "Bitwarden: JSON, plain or password-protected, or a zip file with attachments",
  matches: (head) => {
    const text = headText(head);
    if (isArchive(head)) return text.includes("data.json") && !text.includes("export.data");
    return /^\uFEFF?\s*\{/.test(text) && /"(encrypted|passwordProtected)"\s*:/.test(text);
  },
  read: async (bytes, options) => (await import("./bitwarden/read.ts")).readBitwarden(bytes, options),
};
