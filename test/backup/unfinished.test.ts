import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backUp, backUpAll, newestOf, stepOf } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { admin, client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** Rules of backups that section 3 of the roadmap, the engine for long work, closes: these tests are expected to fail until then. */

afterEach(() => void vi.useRealTimers());

async function freshCall() {
  const vault = await makeVault();
  return { vault, items: `/v1/vaults/${vault}/items`, call: client((await makeToken({ [vault]: "rwd" })).token) };
}

describe("a backup", () => {
  // S2, closed by section 3.
  it.fails("ends within one step of eight slices although two Items of 300 KB are written between all of its slices", async () => {
    const { vault, items, call } = await freshCall();
    const fields = [1, 2, 3, 4, 5, 6].map((label) => ({ id: `f${label}`, label: `${label}`, value: "x".repeat(50_000) }));
    const made = [1, 2].map(
      async (n) => (await call("POST", items, { body: { ...LOGIN, title: `${n}`, fields } })).body.id as string,
    );
    const ids = await Promise.all(made);
    const write = async (n: number) => {
      for (const id of ids) await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: `${n}` }] });
    };
    for (let n = 0; n < 5; n++) await write(n);
    let slices = 0;
    const DB = wrapDatabase(env.DB, {
      after: async (results) => (results.length < 6 ? undefined : write(100 + slices++)),
    });
    const states: string[] = [];
    for (let step = 0; step < 1 && states.at(-1) !== "done"; step++)
      states.push((await stepOf(vault, { body: { full: true }, env: { DB } })).state);
    expect(states.at(-1)).toBe("done");
  });

  // S3, closed by section 3.
  it.fails("has nothing of a destroyed Item after BACKUPS_KEPT later backups and as many days", async () => {
    const { vault, items, call } = await freshCall();
    for (let n = 0; n < 4; n++) await call("POST", items, { body: { ...LOGIN, title: `${n}` } });
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    const vaults = (await admin("GET", "/v1/admin/vaults")).body.map((one: { id: string }) => one.id);
    await backUpAll(vaults);
    await call("DELETE", `${items}/${id}`);
    await call("DELETE", `/v1/vaults/${vault}/deleted-items/${id}`);
    for (let day = 0; day < 3; day++) {
      advanceClock(DAY);
      await backUp(vault);
      await backUpAll(vaults, { BACKUPS_KEPT: 2 });
    }
    const { parts } = await newestOf(vault);
    const rows = parts.flatMap(({ tables }) => tables.filter(({ table }) => table.startsWith("item")).flatMap((one) => one.rows));
    expect(rows.filter((row) => row.includes(id))).toEqual([]);
  });
});
