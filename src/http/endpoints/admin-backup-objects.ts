import { LIMITS } from "../../model/limits.ts";
import { sealedFileSize } from "../../model/chunk-sizes.ts";
import { fail, invalid, ok, type Result } from "../../model/result.ts";
import { withBuckets } from "../../store/backup/ports.ts";
import { storeObject } from "../../store/restore/store-object.ts";
import { isEncoded } from "../body.ts";
import { type Call, type ParseCall, type ReplyTo, serveBy } from "../route.ts";

/** PUT /v1/admin/backups/object: brings an object of a backup back into the bucket (contract 21.21). */

interface Upload {
  readonly key: string;
  /** Bytes of the body. */
  readonly length: number;
}

const OBJECT_BYTES_MAX = sealedFileSize(LIMITS.file);

export const putBackupObject = serveBy({
  parse({ c, query }: ParseCall): Result<Upload> {
    if (isEncoded(c.req.raw)) return fail("encoding");
    const declared = c.req.header("Content-Length") ?? "";
    if (!/^\d{1,15}$/.test(declared)) return invalid("Content-Length: is missing, or not a number of bytes");
    if (Number(declared) > OBJECT_BYTES_MAX) return fail("body_too_large", String(OBJECT_BYTES_MAX));
    return ok({ key: query.rest.get("key") ?? "", length: Number(declared) });
  },

  async handle({ c, store }: Call, { key, length }: Upload): ReplyTo<"putBackupObject"> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const body = c.req.raw.body ?? new Response(new Uint8Array()).body!;
    const stored = await storeObject(buckets.value, key, { length, body });
    return stored.ok ? ok({ json: { stored: stored.value }, action: "UNLOGGED" }) : stored;
  },
});
