import type { ExportFormat } from "../format.ts";

/** Bitwarden's JSON, plain or under a password (bitwarden.com/help/encrypted-export). */
export const bitwardenExport: ExportFormat = {
  name: "bitwarden",
  summary: "Bitwarden: JSON, plain or password-protected, or a zip file with attachments",
  encrypts: true,
  write: async (items, options) => (await import("./bitwarden/write.ts")).writeJson(items, options),
};

/** Bitwarden's "json (with attachments)": the same document, and the Files. */
export const bitwardenZip: ExportFormat = {
  name: "bitwarden-zip",
  summary: "Bitwarden: a zip file with the Files",
  write: async (items) => (await import("./bitwarden/write.ts")).writeZip(items),
};
