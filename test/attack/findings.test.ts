import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { backUpAll } from "../support/backup.ts";
import { makeVault } from "../support/service.ts";

describe("the backup of the registry", () => {
  it("ends although 30,000 names of tokens do not open: they are findings (21.6)", async () => {
    await makeVault();
    await env.DB.prepare(
      `INSERT INTO ended_tokens (id, root_key_id, sealed, created_at, expires_at, ended_at, signed_by)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 30000)
       SELECT printf('%08x-0000-4000-8000-000000000000', n), 'k1', printf('%.*c', 200, 'x'), 1, 2, 2, 'k1' FROM n`,
    ).run();
    const { state, reason } = await backUpAll();
    expect({ state, reason }).toEqual({ state: "done", reason: undefined });
  }, 100_000);
});
