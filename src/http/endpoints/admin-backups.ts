import * as z from "zod";
import { REGISTRY } from "../../model/backup.ts";
import { parseId } from "../../model/ids.ts";
import { fits } from "../../model/limits.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { MINUTE } from "../../model/time.ts";
import { explain, optional } from "../../model/text.ts";
import { listObjects, type ListedBackup, loadObject, loadBackups } from "../../store/backup/list.ts";
import { isBackupKey } from "../../store/backup/object-keys.ts";
import { withBuckets } from "../../store/backup/ports.ts";
import { registryStep } from "../../store/backup/registry.ts";
import { backupStep, planBackup } from "../../store/backup/vault.ts";
import { type BackedUpVault, listVaults } from "../../store/restore/list-vaults.ts";
import { presentTime } from "../present/time.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** /v1/admin/backups (contract 21): the steps of a backup, the list of backups, and the objects of the bucket. */

const step = z.object({ full: optional(z.boolean("is not a boolean")), dryRun: optional(z.boolean("is not a boolean")) });

type Step = z.output<typeof step>;

const parseStep = ({ body }: ParseCall): Result<Step> => {
  const input = step.safeParse(body!.json);
  return input.success ? ok(input.data) : invalid(explain(input.error, "the step"));
};

/** Continues the backup of a vault. */
export const backUpVault = {
  parse: parseStep,
  async handle({ c, store, vault }: Call, { full = false, dryRun = false }: Step): Promise<Result<Reply>> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const progress = await (dryRun ? planBackup : backupStep)(buckets.value, vault, full);
    if (!progress.ok) return progress;
    return progress.value.state === "deleted"
      ? fail("vault_not_found")
      : ok({ response: c.json(progress.value), action: "UNLOGGED" });
  },
};

/** Continues the backup of the registry. Its end is logged. */
export async function backUpRegistry({ c, store }: Call): Promise<Result<Reply>> {
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  const progress = await registryStep(buckets.value);
  if (!progress.ok) return progress;
  return ok({ response: c.json(progress.value), action: progress.value.state === "done" ? "CREATE" : "UNLOGGED" });
}

export const listBackups = (call: Call): Promise<Result<Reply>> => answerBackups(call, REGISTRY);

/** Also of a vault that does not exist any more. */
export const listVaultBackups = (call: Call): Promise<Result<Reply>> => answerBackups(call, call.vault);

async function answerBackups({ c, store }: Call, vault: string): Promise<Result<Reply>> {
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  const listed = await loadBackups(buckets.value, vault);
  return listed.ok ? ok({ response: c.json(listed.value.map(presentBackup)) }) : listed;
}

function presentBackup({ number, manifest }: ListedBackup) {
  if (!manifest) return { number, broken: "integrity" };
  const { at, parts, snapshots, missing, broken: findings } = manifest;
  const sum = (name: "rows" | "bytes") => parts.reduce((total, part) => total + part[name], 0);
  return {
    number,
    createdAt: presentTime(at),
    rows: sum("rows"),
    bytes: sum("bytes"),
    vaults: snapshots?.length,
    missing,
    findings,
  };
}

/** The vaults that the bucket has, by name, also those that do not exist any more. Each page is logged. */
export const listBackedUpVaults = {
  parse({ query }: ParseCall): Result<string> {
    const after = query.rest.get("after") ?? "";
    const id = after === "" ? after : parseId(after);
    return id === undefined ? invalid("after: is not a UUID or its 26 characters of base32") : ok(id);
  },
  async handle({ c, store }: Call, after: string): Promise<Result<Reply>> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const page = await listVaults(buckets.value, after);
    if (!page.ok) return page;
    const { vaults, next } = page.value;
    return ok({ response: c.json({ vaults: vaults.map(presentVault), next }), action: "READ" });
  },
};

function presentVault({ id, newest, skipped }: BackedUpVault) {
  if (!newest) return { id, skipped };
  const { name, number: snapshot, at, items } = newest;
  return { id, name, snapshot, createdAt: presentTime(at), items, skipped };
}

/** Bytes of a key in R2 (developers.cloudflare.com/r2/platform/limits), which fails for a longer one. */
const keyBytesMax = 1_024;

/** The objects of all backups. Each list is logged. */
export const listBackupObjects = {
  parse({ query }: ParseCall): Result<string> {
    const after = query.rest.get("after") ?? "";
    return fits(after, keyBytesMax) ? ok(after) : invalid(`after: is longer than ${keyBytesMax} bytes`);
  },
  async handle({ c, store }: Call, after: string): Promise<Result<Reply>> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const page = await listObjects(buckets.value, after);
    return page.ok ? ok({ response: c.json(page.value), action: "READ" }) : page;
  },
};

/** The minute in which this isolate has last logged that an object was read. */
let loggedMinute = 0;

/** The first object that an isolate answers in a minute is logged, so that no copy of the backups leaves no trace. */
function actionOfObject(now: number): "READ" | "UNLOGGED" {
  const minute = Math.floor(now / MINUTE);
  if (minute === loggedMinute) return "UNLOGGED";
  loggedMinute = minute;
  return "READ";
}

export const getBackupObject = {
  parse({ query }: ParseCall): Result<string> {
    const key = query.rest.get("key") ?? "";
    return isBackupKey(key) ? ok(key) : invalid("key: is not the key of an object of a backup");
  },
  async handle({ c, store }: Call, key: string): Promise<Result<Reply>> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const object = await loadObject(buckets.value, key);
    if (!object.ok) return object;
    const headers = { "Content-Type": "application/octet-stream", "Content-Length": String(object.value.size) };
    return ok({ response: c.body(object.value.body, 200, headers), action: actionOfObject(Date.now()) });
  },
};
