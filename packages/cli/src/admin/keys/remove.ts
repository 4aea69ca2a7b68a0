import type { RootKey } from "@item-vault/client";
import { CliError } from "../../frame/failure.ts";
import { plural } from "../../frame/printable.ts";
import { keyNamed, requireSameKeys } from "./compare.ts";
import { type KeyDocument, publicKeyOf } from "./document.ts";
import { loadKeyFile } from "./file.ts";
import { loadKeys } from "./service.ts";
import type { KeysCall } from "./table.ts";
import { applyChange } from "./upload.ts";

/** `admin keys remove`. The tokens that the key signed stay valid by its public key, unless it has leaked. */
export async function run(call: KeysCall, [id = ""]: readonly string[]): Promise<void> {
  const { leaked = false } = call.options;
  const file = await loadKeyFile(call.options.file);
  const { document, path } = file;
  const keys = await loadKeys(await call.admin());
  const key = keyNamed(keys, id);
  requireSameKeys(file, keys, id);
  requireRemovable(key, document);
  const { [id]: secret, ...others } = document.keys;
  const { [id]: known, ...verify } = document.verify ?? {};
  const next = leaked ? "The tokens that it signed end: issue others" : "Check it with `item-vault admin keys`";
  const kept = secret === undefined ? known : publicKeyOf(secret);
  if (secret === undefined && (known === undefined || !leaked))
    return applyChange(call, { file, done: `${path} has no key ${id} any more`, next });
  const keeps = !leaked && key.state !== "staged" && kept !== undefined;
  const changed: KeyDocument = { ...document, keys: others, verify: keeps ? { ...verify, [id]: kept } : verify };
  const done = `Removed the key ${id} from ${path}${keeps ? ", and kept its public key for the tokens that it signed" : ""}`;
  return applyChange(call, { file, document: changed, done, next });
}

/** Throws a CliError while anything needs the key. */
function requireRemovable({ id, state, vaults, tokens, endedTokens, backup }: RootKey, { active }: KeyDocument): void {
  if (state === "active" || active === id)
    throw new CliError(`${id} is the active key`, { exit: "conflict", hint: "Activate another one first." });
  const held = `${plural(vaults, "vault")}, ${plural(tokens, "token")} and ${plural(endedTokens, "ended token")}`;
  if (vaults + tokens + endedTokens > 0)
    throw new CliError(`${id} still holds ${held}`, { exit: "conflict", hint: "Run `item-vault admin keys rewrap`." });
  if (backup && state !== "removed")
    throw new CliError(`The newest backup cannot be decrypted without ${id}`, {
      exit: "conflict",
      hint: "Run `item-vault admin backup` first: it makes one that needs the active key alone.",
    });
}
