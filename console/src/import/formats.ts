import type { ImportFormat } from "../../../cli/src/transfer/model.ts";
import { bitwarden } from "../../../cli/src/transfer/formats/bitwarden.ts";
import { chrome, firefox } from "../../../cli/src/transfer/formats/csv.ts";
import { dotenv } from "../../../cli/src/transfer/formats/dotenv.ts";
import { itemVaultImport } from "../../../cli/src/transfer/formats/item-vault.ts";
import { onePuxImport } from "../../../cli/src/transfer/formats/onepux.ts";
import { vaultKv } from "../../../cli/src/transfer/formats/vault-kv.ts";

/**
 * The formats of the command line that a page can read. KeePass is not among them: its key derivation needs WebAssembly, which the
 * policy of the page does not allow.
 */
export const FORMATS: readonly ImportFormat[] = [onePuxImport, itemVaultImport, bitwarden, chrome, firefox, dotenv, vaultKv];
