import type { ImportFormat } from "../format.ts";
import { headText } from "../text.ts";

/** Secrets of HashiCorp Vault and OpenBao (developer.hashicorp.com/vault/docs/commands/kv/get). */
export const vaultKv: ImportFormat = {
  name: "vault-kv",
  summary: "HashiCorp Vault or OpenBao: output of `kv get -format=json`, one secret or several",
  matches: (head) => /^\s*\[?\s*\{/.test(headText(head)) && /"request_id"\s*:/.test(headText(head)),
  read: async (bytes, options) => (await import("./vault-kv/read.ts")).readVaultKv(bytes, options),
};
