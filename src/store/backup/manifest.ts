import type { Keyring } from "../../crypto/keyring.ts";
import { isMacOf, macOf } from "../../crypto/manifest-mac.ts";
import { BACKUP_FORMAT, type Manifest, REGISTRY } from "../../model/backup.ts";
import type { Failure } from "../../model/failure.ts";
import { fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { SCHEMA } from "../d1/schema.ts";
import { TABLES, unknownColumns } from "../tables/tables.ts";
import { sha256 } from "./part.ts";

/** The text of a manifest: a line of JSON, and a line with the id of a root key and the MAC of the first line under it. */

/** A manifest that was authenticated. */
export interface OpenManifest {
  readonly manifest: Manifest;
  /** SHA-256 of its text, in hexadecimal, by which the registry names it. */
  readonly sha256: string;
  /** The id of the root key that authenticates it. */
  readonly rootKey: string;
}

/** Returns the text of a manifest, authenticated under the active root key. */
export async function presentManifest({ active }: Keyring, manifest: Manifest): Promise<Uint8Array> {
  const line = JSON.stringify(manifest);
  return new TextEncoder().encode(`${line}\n${active.id} ${await macOf(active, line)}\n`);
}

/**
 * Parses and authenticates the text of a manifest. It has to name the vault and number of its key in the bucket. Fails with `backup_damaged`,
 * whose detail names the manifest and the fault, and with `backup_too_new`. The failure has `missingKey` if ROOT_KEYS lacks the root key.
 */
export async function parseManifest(
  { keys }: Keyring,
  backup: Pick<Manifest, "vault" | "number">,
  text: Uint8Array,
): Promise<Result<OpenManifest>> {
  const name = `manifest ${backup.number} of ${backup.vault === REGISTRY ? "the registry" : backup.vault}`;
  const refused = (fault: string, data: Pick<Failure, "missingKey"> = {}): Refusal => ({
    ok: false,
    failure: { kind: "backup_damaged", detail: `${name} ${fault}`, ...data },
  });
  const [line = "", signature = "", ...rest] = new TextDecoder().decode(text).split("\n");
  const [key = "", mac = ""] = signature.split(" ");
  const root = keys.get(key);
  if (rest.length !== 1 || rest[0] !== "") return refused("is truncated, or continues after its two lines");
  const isNamed = /^[\w-]{1,32}$/.test(key);
  if (!root && isNamed) return refused(`needs the root key ${key}, which ROOT_KEYS does not have`, { missingKey: key });
  if (!root) return refused("needs a root key, which ROOT_KEYS does not have");
  if (!(await isMacOf(root, line, mac)))
    return refused(`is not authentic: it was changed, or ROOT_KEYS has another root key with the id ${key}`);
  const manifest = JSON.parse(line) as Manifest;
  const later = laterIn(manifest);
  if (later !== undefined) return fail("backup_too_new", `${name} has ${later}, which this release does not know`);
  if (manifest.vault !== backup.vault || manifest.number !== backup.number) return refused("is that of another snapshot");
  return ok({ manifest, sha256: await sha256(text), rootKey: key });
}

/** Returns what only a later release knows in a manifest. A backup is read whole or not at all: rows without a column would lose it. */
function laterIn({ format, schema, row = {} }: Manifest): string | undefined {
  if (!(format <= BACKUP_FORMAT)) return `the format ${format}`;
  if (!(schema <= SCHEMA.newest)) return `the schema ${schema}`;
  return unknownColumns({ name: "vaults", ...TABLES.vaults }, Object.keys(row))[0];
}
