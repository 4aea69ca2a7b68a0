import type { ImportFormat } from "@item-vault/transfer/format";
import { bitwarden } from "@item-vault/transfer/formats/bitwarden";
import { csv, CSV_FORMATS } from "@item-vault/transfer/formats/csv";
import { dotenv } from "@item-vault/transfer/formats/dotenv";
import { itemVaultImport } from "@item-vault/transfer/formats/item-vault";
import { onePuxImport } from "@item-vault/transfer/formats/onepux";
import { vaultKv } from "@item-vault/transfer/formats/vault-kv";

/** The formats that a page can read. The key derivation of KeePass needs WebAssembly, which the policy of the page does not allow. */
export const FORMATS: readonly ImportFormat[] = [onePuxImport, itemVaultImport, bitwarden, ...CSV_FORMATS, csv, dotenv, vaultKv];
