import { CliError } from "../../frame/failure.ts";
import { fingerprintOf, publicKeyOf } from "./document.ts";
import type { KeyFile } from "./file.ts";
import type { ServiceKey } from "./service.ts";

/**
 * Compares a file with the service, so that no command uploads the keys of another service, or loses a key that is in use.
 * In: the id of a key that the file may lack. Errors: throws a CliError that names ids and fingerprints.
 */
export function requireSameKeys({ path, document }: KeyFile, keys: readonly ServiceKey[], removed?: string): void {
  for (const { id, state, fingerprint } of keys) {
    const key = document.keys[id];
    const own = key === undefined ? undefined : fingerprintOf(publicKeyOf(key));
    const hint = "Use the file with which the service was deployed.";
    if (own !== undefined && fingerprint !== undefined && own !== fingerprint)
      throw new CliError(`The key ${id} of ${path} (${own}) is not that of the service (${fingerprint})`, { hint });
    const needed = state !== "removed" && id !== removed;
    if (own === undefined && needed)
      throw new CliError(`${path} lacks the key ${id} (${fingerprint ?? "unknown"}) of the service`, { hint });
  }
}

/** The ids of the file that the service does not know: it was not uploaded since they were added. */
export function unknownKeys({ document }: KeyFile, keys: readonly ServiceKey[]): string[] {
  const known = new Set(keys.filter(({ state }) => state !== "removed" && state !== "missing").map(({ id }) => id));
  return Object.keys(document.keys).filter((id) => !known.has(id));
}

/** Errors: throws a CliError when the service has no key of this id. */
export function keyNamed(keys: readonly ServiceKey[], id: string): ServiceKey {
  const key = keys.find((one) => one.id === id);
  if (key) return key;
  throw new CliError(`The service has no root key ${id}`, { exit: "notFound", hint: "Run `item-vault admin keys`." });
}
