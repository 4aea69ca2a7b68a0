import { openKeyring } from "../crypto/keyring.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { checkRootKeys } from "../store/root-keys.ts";
import { pingBucket, pingDatabase } from "../store/ping.ts";
import type { Handler } from "./route.ts";
import { checkSettings } from "./settings.ts";
import { version } from "../../package.json";

/** /heartbeat: the Worker runs. /health: what it depends on does too. Neither needs a token. */

export const heartbeat: Handler = async (c) => ok(c.text("."));

type Check = (env: Env) => Promise<Result<unknown>> | Result<unknown>;

/** What the service depends on: the bindings and secrets that it needs, what is well when it is, and how to tell. */
const DEPENDENCIES: readonly (readonly [service: string, needs: readonly (keyof Env)[], message: string, check: Check])[] = [
  ["d1", ["DB"], "The database answers and has its tables", ({ DB }) => pingDatabase(DB)],
  ["r2", ["FILES"], "The bucket answers", ({ FILES }) => pingBucket(FILES)],
  ["keys", ["DB", "ROOT_KEYS"], "The root keys are those of the database", checkKeys],
  ["coordinator", ["COORDINATOR"], "The Durable Objects are bound", ok],
  ["queue", ["ACTIVITY"], "The queue of the activity log is bound", ok],
  ["rate limits", ["TOKEN_RATE", "FAILURE_RATE"], "The rate limiters are bound", ok],
  ["settings", [], "The variables are well-formed", checkSettings],
];

/** Always 200: the answer is the report. `status` is ACTIVE or ERROR; a message never holds key material. */
export const health: Handler = async (c) => {
  const dependencies = await Promise.all(
    DEPENDENCIES.map(async ([service, needs, message, check]) => {
      const missing = needs.find((name) => !(c.env[name] as unknown));
      const result = missing === undefined ? await check(c.env) : fail("misconfigured", `${missing} is missing`);
      if (result.ok) return { service, status: "ACTIVE", message };
      return { service, status: "ERROR", message: result.failure.detail ?? "The database does not answer" };
    }),
  );
  return ok(c.json({ name: "Item Vault", version, dependencies }));
};

async function checkKeys({ DB, ROOT_KEYS }: Env): Promise<Result<unknown>> {
  const keyring = await openKeyring(ROOT_KEYS);
  return keyring.ok ? checkRootKeys({ db: DB, keyring: keyring.value, now: Date.now() }) : keyring;
}
