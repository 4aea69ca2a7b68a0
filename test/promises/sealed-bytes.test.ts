import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SEALED_BYTES } from "../support/faults.ts";
import { freshItem, pattern } from "../support/files.ts";
import { runHourly } from "../support/jobs.ts";
import { runs } from "../support/runs.ts";
import { flipped } from "../verify/support/vault.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** `vaults.sealed_bytes`: the bytes of the sealed texts of a vault, which its quota bounds (contract 12.6). */

const SQL = `
  SELECT sealed_bytes AS counted,
    ${SEALED_BYTES} AS stored
  FROM vaults WHERE id = ?1`;

const bytesOf = async (vault: string) => (await env.DB.prepare(SQL).bind(vault).first<{ counted: number; stored: number }>())!;

/** Checks that the counter is the sum of the rows. */
async function expectExact(vault: string): Promise<void> {
  const { counted, stored } = await bytesOf(vault);
  expect(counted).toBe(stored);
}

const anyText = fc.string({ unit: "grapheme", maxLength: 60 });

const write = fc.oneof(
  fc.record({ kind: fc.constant("create"), text: anyText }),
  fc.record({ kind: fc.constant("patch"), item: fc.nat(3), text: anyText }),
  fc.record({ kind: fc.constant("upload"), item: fc.nat(3), text: anyText.filter((text) => text !== ""), size: fc.nat(2000) }),
  fc.record({ kind: fc.constant("replace"), item: fc.nat(3), size: fc.nat(200_000) }),
  fc.record({ kind: fc.constant("delete file"), item: fc.nat(3) }),
  fc.record({ kind: fc.constant("delete"), item: fc.nat(3) }),
);

/** Writes at the same time, and whether the coordinator then loses its cache. */
const group = fc.record({ writes: fc.array(write, { maxLength: 4 }), evict: fc.boolean() });

type Write = { kind: string; item?: number; text?: string; size?: number };

describe("the counter of sealed bytes", () => {
  it("is 0 for a new vault", async () => {
    const { vault } = await freshVault();
    expect(await bytesOf(vault)).toEqual({ counted: 0, stored: 0 });
  });

  it("equals the sum of the rows after any writes, alone or in groups", async () => {
    const property = fc.asyncProperty(fc.array(group, { maxLength: 6 }), async (groups) => {
      const { vault, items, call } = await freshVault();
      const apply = async ({ kind, item = 0, text = "", size = 0 }: Write): Promise<unknown> => {
        if (kind === "create") return call("POST", items, { body: { ...LOGIN, title: text } });
        const path = `${items}/${(await call("GET", items)).body[item]?.id}`;
        const files = `${path}/files`;
        if (kind === "patch") return call("PATCH", path, { body: [{ op: "add", path: "/fields", value: { value: text } }] });
        if (kind === "delete") return call("DELETE", path);
        if (kind === "upload") {
          const query = new URLSearchParams({ name: text, section: text });
          return call("POST", `${files}?${query.toString()}`, { body: pattern(size) });
        }
        const file = (await call("GET", files)).body[0]?.id;
        if (kind === "delete file") return call("DELETE", `${files}/${file}`);
        return call("PUT", `${files}/${file}/content`, { body: pattern(size) });
      };
      for (const { writes, evict } of groups) {
        await Promise.all(writes.map(apply));
        if (evict) await evictDurableObject(env.COORDINATOR.getByName(vault)).catch(() => undefined); // it may not run yet
        await runHourly();
        await expectExact(vault);
      }
    });
    await fc.assert(property, { numRuns: runs(5, 300) });
  });

  it("stays exact when an Item that does not open is deleted", async () => {
    const { vault, path, call, upload } = await freshItem();
    await upload(pattern(10));
    await env.DB.prepare(`UPDATE items SET details = ${flipped("details")} WHERE vault_id = ?`)
      .bind(vault)
      .run();
    await evictDurableObject(env.COORDINATOR.getByName(vault));
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await bytesOf(vault)).counted).toBeGreaterThan(0);
    await expectExact(vault);
  });
});
