import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { KEEP_NOTHING, setVariables } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";
import { type Client, freshVault, LOGIN } from "../support/service.ts";
import { storedBytes } from "../support/stored-bytes.ts";

/**
 * How much a write stores in D1: at most four times its body and 4 KiB, whatever the size of the Item that it changes, and the
 * version before it. VERSIONS_KEPT bounds these (test/promises/versions.test.ts).
 */

const BODY = '[{"op":"replace","path":"/favorite","value":true}]';

const MANY = runs(20, 100);

let call: Client;
let path: string;

beforeAll(async () => {
  const made = await freshVault();
  await setVariables(made.vault, KEEP_NOTHING);
  ({ call } = made);
  const value = "x".repeat(60_000);
  const fields = Array.from({ length: 6 }, (_, n) => ({ id: `f${n}`, value }));
  path = `${made.items}/${(await call("POST", made.items, { body: { ...LOGIN, fields } })).body.id}`;
});

describe("a PATCH of 50 bytes on a large Item", () => {
  it.each([
    [`${MANY} with an Idempotency-Key`, MANY, (n: number): Record<string, string> => ({ "Idempotency-Key": `key-${n}` })],
    ["5 without a key", 5, (): Record<string, string> => ({})],
  ])("stores at most 4 × its body and 4 KiB: %s", async (_, writes, headersFor) => {
    const before = await storedBytes(env.DB);
    for (let n = 0; n < writes; n++) {
      expect((await call("PATCH", path, { body: BODY, headers: headersFor(n) })).status).toBe(200);
    }
    const each = ((await storedBytes(env.DB)) - before) / writes;
    console.log(`a PATCH of ${BODY.length} bytes stores ${each} bytes`);
    expect(before).toBeGreaterThan(400_000);
    expect(each).toBeLessThanOrEqual(4 * BODY.length + 4096);
  });
});
