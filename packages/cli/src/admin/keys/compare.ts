import type { RootKey } from "@item-vault/client";
import { CliError } from "../../frame/failure.ts";
import { fingerprintOf, publicKeyOf } from "./document.ts";
import type { KeyFile } from "./file.ts";
import { howToUpload } from "./upload.ts";

/**
 * Compares a file with the service. So no command uploads the keys of another service, loses a key in use, or brings back a removed key from
 * an old copy of the file. `removed` is a key that may differ, because the command removes it. Throws a CliError that names ids and
 * fingerprints.
 */
export function requireSameKeys({ path, document }: KeyFile, keys: readonly RootKey[], removed?: string): void {
  const hint = "Use the file with which the service was deployed.";
  for (const { id, state, fingerprint, verifies, removable } of keys) {
    const key = document.keys[id];
    const publicKey = key === undefined ? document.verify?.[id] : publicKeyOf(key);
    const own = publicKey === undefined ? undefined : fingerprintOf(publicKey);
    if (own !== undefined && fingerprint !== undefined && own !== fingerprint)
      throw new CliError(`The key ${id} of ${path} (${own}) is not that of the service (${fingerprint})`, { hint });
    if (id === removed) continue;
    if (state !== "removed" && key === undefined)
      throw new CliError(`${path} lacks the key ${id} (${fingerprint ?? "unknown"}) of the service`, {
        hint: removable
          ? `When \`remove ${id}\` took it out: ${howToUpload(path)}, and run the command again. Else: ${hint}`
          : hint,
      });
    if (state === "removed" && (key !== undefined || (own !== undefined && !verifies)))
      throw new CliError(`The service no longer has the key ${id}, but ${path} does`, { hint });
    if (state === "removed" && verifies && own === undefined)
      throw new CliError(`${path} lacks the public key ${id}: the tokens that it verifies would end`, { hint });
  }
}

/** The ids of the file that the service does not know: it was not uploaded since they were added. */
export function unknownKeys({ document }: KeyFile, keys: readonly RootKey[]): string[] {
  const known = new Set(keys.filter(({ state }) => state !== "removed" && state !== "missing").map(({ id }) => id));
  return Object.keys(document.keys).filter((id) => !known.has(id));
}

/** Throws a CliError if the service has no key with this id. */
export function keyNamed(keys: readonly RootKey[], id: string): RootKey {
  const key = keys.find((one) => one.id === id);
  if (key) return key;
  throw new CliError(`The service has no root key ${id}`, { exit: "notFound", hint: "Run `item-vault admin keys`." });
}
