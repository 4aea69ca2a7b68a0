import type { RootKey } from "@item-vault/client";
import { show } from "../../output/format.ts";
import { tableOf } from "../../output/table.ts";
import { loadKeys } from "./service.ts";
import type { KeysCall } from "./table.ts";

const HEADINGS = ["ID", "STATE", "FINGERPRINT", "VAULTS", "TOKENS", "ENDED", ""];

/** `admin keys list`. */
export async function run({ io, options, admin }: KeysCall): Promise<void> {
  const keys = await loadKeys(await admin());
  await show(io, options.format, { json: keys, table: (columns) => tableOf(HEADINGS, keys.map(rowOf), columns) });
}

const rowOf = (key: RootKey): string[] => [
  key.id,
  key.state,
  key.fingerprint ?? "unknown",
  ...[key.vaults, key.tokens, key.endedTokens].map(String),
  remarkOf(key),
];

function remarkOf({ state, verifies, removable, backup, ...rows }: RootKey): string {
  if (state === "missing") return "put it back into ROOT_KEYS";
  if (state === "removed") return verifies ? "verifies tokens" : "";
  if (state === "retired" && backup && rows.vaults + rows.tokens + rows.endedTokens === 0) return "needed by the newest backup";
  return removable ? "may be removed" : "";
}
