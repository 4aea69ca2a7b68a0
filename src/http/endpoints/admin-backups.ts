import type { Snapshot } from "../../../client/src/schema.ts";
import type { Presented } from "../../../contract/answer.ts";
import { brokenRowsOf, bytesOfParts, isBackupKey, missingContentsOf, REGISTRY, rowsOfParts } from "../../model/backup.ts";
import { parseId } from "../../model/ids.ts";
import { fits } from "../../model/limits.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { MINUTE } from "../../model/time.ts";
import { listObjects, type ListedBackup, loadObject, loadBackups } from "../../store/backup/list.ts";
import { withBuckets } from "../../store/backup/ports.ts";
import { type BackedUpVault, listVaults } from "../../store/restore/list-vaults.ts";
import { presentTime } from "../present/time.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** /v1/admin/backups (contract 21): the list of backups, and the objects of the bucket. */

export const listBackups = (call: Call): ReplyTo<"listBackups"> => answerBackups(call, REGISTRY);

/** Also of a vault that does not exist any more. */
export const listVaultBackups = (call: Call): ReplyTo<"listVaultBackups"> => answerBackups(call, call.vault);

async function answerBackups({ c, store }: Call, vault: string): ReplyTo<"listBackups"> {
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  const listed = await loadBackups(buckets.value, vault);
  return listed.ok ? ok({ json: listed.value.map(presentBackup) }) : listed;
}

function presentBackup({ number, manifest }: ListedBackup): Presented<Snapshot> {
  const missing = manifest && missingContentsOf(manifest);
  const findings = manifest && brokenRowsOf(manifest);
  return {
    number,
    createdAt: manifest && presentTime(manifest.at),
    rows: manifest && rowsOfParts(manifest.parts),
    bytes: manifest && bytesOfParts(manifest.parts),
    vaults: manifest?.snapshots?.length,
    missing: missing?.length ? missing : undefined,
    findings: findings?.length ? findings : undefined,
    broken: manifest ? undefined : "integrity",
  };
}

/** The vaults that the bucket has, by name, also those that do not exist any more. Each page is logged. */
export const listBackedUpVaults = serveBy({
  parse({ query }: ParseCall): Result<string> {
    const after = query.rest.get("after") ?? "";
    const id = after === "" ? after : parseId(after);
    return id === undefined ? invalid("after: is not a UUID or its 26 characters of base32") : ok(id);
  },
  async handle({ c, store }: Call, after: string): ReplyTo<"listBackedUpVaults"> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const page = await listVaults(buckets.value, after);
    if (!page.ok) return page;
    const { vaults, next } = page.value;
    return ok({ json: { vaults: vaults.map(presentVault), next }, action: "READ" });
  },
});

const presentVault = ({ id, newest, skipped }: BackedUpVault) => ({
  id,
  name: newest?.name,
  snapshot: newest?.number,
  createdAt: newest && presentTime(newest.at),
  items: newest?.items,
  skipped,
});

/** Bytes of a key in R2 (developers.cloudflare.com/r2/platform/limits), which fails for a longer one. */
const keyBytesMax = 1_024;

/** The objects of all backups. Each list is logged. */
export const listBackupObjects = serveBy({
  parse({ query }: ParseCall): Result<string> {
    const after = query.rest.get("after") ?? "";
    return fits(after, keyBytesMax) ? ok(after) : invalid(`after: is longer than ${keyBytesMax} bytes`);
  },
  async handle({ c, store }: Call, after: string): ReplyTo<"listBackupObjects"> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const page = await listObjects(buckets.value, after);
    return page.ok ? ok({ json: page.value, action: "READ" }) : page;
  },
});

/** The minute in which this isolate has last logged that an object was read. */
let loggedMinute = 0;

/** The first object that an isolate answers in a minute is logged, so that no copy of the backups leaves no trace. */
function actionOfObject(now: number): "READ" | "UNLOGGED" {
  const minute = Math.floor(now / MINUTE);
  if (minute === loggedMinute) return "UNLOGGED";
  loggedMinute = minute;
  return "READ";
}

export const getBackupObject = serveBy({
  parse({ query }: ParseCall): Result<string> {
    const key = query.rest.get("key") ?? "";
    return isBackupKey(key) ? ok(key) : invalid("key: is not the key of an object of a backup");
  },
  async handle({ c, store }: Call, key: string): ReplyTo<"getBackupObject"> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const object = await loadObject(buckets.value, key);
    if (!object.ok) return object;
    const headers = { "Content-Type": "application/octet-stream", "Content-Length": String(object.value.size) };
    return ok({ response: c.body(object.value.body, 200, headers), action: actionOfObject(Date.now()) });
  },
});
