import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { cleanUp } from "../../src/scheduled.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { ignoreChecks } from "../support/migrate.ts";
import { admin, freshVault, LOGIN, makeToken } from "../support/service.ts";
import { keeping } from "../support/versions.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Counts that statements compute from what D1 has: a damaged one costs no other row, although CHECK bounds what is written. */

afterEach(() => void vi.useRealTimers());

it.each(["9223372036854775807", "-9223372036854775808", "-1", "0"])(
  "vaults and tokens are made and ended, and the clean-up ends, while each count has the value %s",
  async (value) => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    const { id: ended } = await makeToken({});
    await makeToken({}, { expiresIn: 60 });
    await ignoreChecks(true);
    await env.DB.batch(
      [
        `UPDATE root_key_uses SET vaults = ${value}, tokens = ${value}, ended_tokens = ${value}`,
        `INSERT OR REPLACE INTO logs (vault_id, expired) VALUES ('${vault}', ${value})`,
        `INSERT OR REPLACE INTO counters (name, value) VALUES ('cleaned/token', ${value}), ('cleaned/log_entry', ${value})`,
      ].map((sql) => env.DB.prepare(sql)),
    );
    await ignoreChecks(false);
    const made = await admin("POST", "/v1/admin/vaults", { body: { name: "Another" } });
    expect(made.status).toBe(200);
    expect((await admin("DELETE", `/v1/admin/vaults/${made.body.id}`)).status).toBe(204);
    expect((await admin("DELETE", `/v1/admin/tokens/${ended}`)).status).toBe(204);
    advanceClock(400 * DAY);
    await cleanUp({ ...env, ...keeping(1, 30) }, Date.now());
    expect(await env.DB.prepare("SELECT count(*) AS n FROM activity WHERE vault_id = ?").bind(vault).first("n")).toBe(0);
    expect((await verifyAll({ repair: true })).findings).toContainEqual(
      expect.objectContaining({ kind: "counter_wrong", table: "root_key_uses", repaired: true }),
    );
  },
);
