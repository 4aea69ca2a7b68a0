import { openKeyring } from "../crypto/keyring.ts";
import { ok, type Result } from "../model/result.ts";
import { checkRootKeys } from "../store/root-keys.ts";
import { pingBucket, pingDatabase } from "../store/ping.ts";
import type { Handler } from "./route.ts";
import { version } from "../../package.json";

/** /heartbeat: the Worker runs. /health: what it depends on does too. Neither needs a token. */

export const heartbeat: Handler = async (c) => ok(c.text("."));

/** Always 200: the answer is the report. `status` is ACTIVE or ERROR; a message never holds key material. */
export const health: Handler = async (c) => {
  const keyring = await openKeyring(c.env.ROOT_KEYS);
  const [database, bucket] = await Promise.all([pingDatabase(c.env.DB), pingBucket(c.env.FILES)]);
  const keys = keyring.ok ? await checkRootKeys({ db: c.env.DB, keyring: keyring.value, now: Date.now() }) : keyring;
  return ok(
    c.json({
      name: "Item Vault",
      version,
      dependencies: [
        dependency("d1", database, "The database answers and has its tables"),
        dependency("r2", bucket, "The bucket answers"),
        dependency("keys", keys, "The root keys are those of the database"),
      ],
    }),
  );
};

function dependency(service: string, result: Result<unknown>, message: string): object {
  if (result.ok) return { service, status: "ACTIVE", message };
  return { service, status: "ERROR", message: result.failure.detail ?? "The database does not answer" };
}
