import { admitBytes } from "../../memory-budget.ts";
import type { Action } from "../../model/activity.ts";
import { isBackupKey } from "../../model/backup.ts";
import { sealedFileSize } from "../../model/chunk-sizes.ts";
import { fits, LIMITS } from "../../model/limits.ts";
import { fail, invalid, map, ok, type Result } from "../../model/result.ts";
import { MINUTE } from "../../model/time.ts";
import { listObjects, loadObject, withBuckets } from "../../store/backup/load.ts";
import { storeObject } from "../../store/restore/store-object.ts";
import { isEncoded } from "../body.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** The objects of backups: a copy of the backups lists and reads them, and a restore from a folder brings them back (contract 21.10, 21.21). */

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
    return map(await listObjects(buckets.value, after), (page) => ({ json: page, action: "READ" }));
  },
});

/** The minute of this isolate's last log entry for a request of an object, by action. */
const loggedMinutes = new Map<Action, number>();

/**
 * Returns the action to log for a request of an object. Only the first read and the first write of an isolate in each minute are
 * logged. So each copy and each change of the backups leaves a trace.
 */
function actionOfObject(action: Action, now: number): Action | "UNLOGGED" {
  const minute = Math.floor(now / MINUTE);
  if (loggedMinutes.get(action) === minute) return "UNLOGGED";
  loggedMinutes.set(action, minute);
  return action;
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
    return ok({ response: c.body(object.value.body, 200, headers), action: actionOfObject("READ", Date.now()) });
  },
});

interface Upload {
  readonly key: string;
  /** Bytes of the body. */
  readonly length: number;
}

/** The content of the largest File, sealed. */
const OBJECT_BYTES_MAX = sealedFileSize(LIMITS.file);

export const putBackupObject = serveBy({
  parse({ c, query }: ParseCall): Result<Upload> {
    if (isEncoded(c.req.raw)) return fail("encoding");
    const declared = c.req.header("Content-Length") ?? "";
    if (!/^\d{1,15}$/.test(declared)) return invalid("Content-Length: is missing, or not a number of bytes");
    const length = Number(declared);
    if (length > OBJECT_BYTES_MAX) return fail("body_too_large", String(OBJECT_BYTES_MAX));
    return ok({ key: query.rest.get("key") ?? "", length });
  },

  async handle({ c, store }: Call, { key, length }: Upload): ReplyTo<"putBackupObject"> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    // A manifest is checked as a whole. Other objects are streamed.
    const admitted = admitBytes(store.share, key.endsWith(".manifest") ? length : 0);
    if (!admitted.ok) return admitted;
    const body = c.req.raw.body ?? new Response(new Uint8Array()).body!;
    const stored = await storeObject(buckets.value, key, { length, pieces: body });
    if (!stored.ok) return stored;
    return ok({ json: { stored: stored.value }, action: stored.value ? actionOfObject("CREATE", Date.now()) : "UNLOGGED" });
  },
});
