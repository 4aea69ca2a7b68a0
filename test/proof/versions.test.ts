import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { untilLogged } from "../support/activity.ts";
import { rebindCoordinator, UNLIMITED } from "../support/bindings.ts";
import { captureLog, dumpOfDatabase, found, words } from "../support/canary.ts";
import { advanceClock, DAY, runDueAlarms } from "../support/faults.ts";
import { objectsOf } from "../support/files.ts";
import { runHourly } from "../support/jobs.ts";
import { runs } from "../support/runs.ts";
import { admin, client } from "../support/service.ts";
import { ageVault } from "../support/versions.ts";
import { auditLog } from "./history/audit.ts";
import { carryOut, type Command, commandsOf, type Play } from "./versions/commands.ts";
import { compareCounters, compareItem, compareVault } from "./versions/compare.ts";
import { createModel, type Kept } from "./versions/model.ts";

/**
 * Any sequence of writes, File writes, deletions, restores, destructions and archiving by one client equals the model of the
 * contract after every step, and leaves nothing behind when everything is destroyed. `npm run soak` runs many sequences.
 */

const lines = captureLog();
const KEPT: readonly Kept[] = [
  { versions: 0, days: 0 },
  { versions: 0, days: 30 },
  { versions: 1, days: 30 },
  { versions: 3, days: 0 },
  { versions: 3, days: 30 },
];

const STEPS = runs(14, 60);
/** The canaries that are searched at the end: the last ones. */
const SEARCHED = 300;

async function start(kept: Kept): Promise<Play> {
  const settings = { VERSIONS_KEPT: kept.versions, DELETED_RETENTION_DAYS: kept.days };
  const bindings = { ...settings, TOKEN_RATE: UNLIMITED, FAILURE_RATE: UNLIMITED } as Partial<Env>;
  const { id: vault } = (await admin("POST", "/v1/admin/vaults", { body: { name: "Test" }, env: bindings })).body;
  await rebindCoordinator(vault, settings);
  const body = { name: "test", vaults: { [vault]: "rwd" } };
  const issued = await admin("POST", "/v1/admin/tokens", { body, env: bindings });
  expect([issued.status, issued.text]).toEqual([200, issued.text]);
  const call = client(issued.body.token);
  return {
    call: (method, path, request) => call(method, path, { ...request, env: bindings }),
    vault,
    kept,
    model: createModel(),
    slots: [],
    shown: new Map(),
  };
}

async function run(kept: Kept, commands: readonly Command[]): Promise<Play> {
  const play = await start(kept);
  const { model } = play;
  for (const [step, command] of commands.entries()) {
    const touched = await carryOut(play, command);
    await compareItem(play, model.items.get(touched)!, step);
    await compareVault(play);
  }
  for (const item of model.items.values()) await compareItem(play, item);
  await compareCounters(play);
  expect(await auditLog(play.vault, [], kept.days > 0)).toEqual({ lost: [], doubled: [] });
  return play;
}

const TABLES = ["items", "item_versions", "deleted_items", "files", "file_versions"];

/** The hourly runs that expire the deleted Items of a vault, at most: each calls some coordinators. */
const HOURS = 5;
const ROWS = "SELECT count(*) AS n FROM deleted_items WHERE vault_id = ?";

/**
 * Deletes every Item. Every second one is destroyed, and the others expire. Then D1 has nothing of them, and R2 after the alarms.
 */
async function destroyAll({ call, vault, model, kept }: Play): Promise<void> {
  for (const [n, { id, state }] of [...model.items.values()].entries()) {
    if (state === "exists") await call("DELETE", `/v1/vaults/${vault}/items/${id}`);
    if (state !== "destroyed" && n % 2 === 0) await call("DELETE", `/v1/vaults/${vault}/deleted-items/${id}`);
  }
  await ageVault(vault, kept.days + 1);
  const bindings = { ...env, VERSIONS_KEPT: kept.versions, DELETED_RETENTION_DAYS: kept.days } as Env;
  for (let hour = 0; hour < HOURS && (await env.DB.prepare(ROWS).bind(vault).first("n")) !== 0; hour++) await runHourly(bindings);
  for (const table of TABLES) {
    const rows = await env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE vault_id = ?`).bind(vault).first("n");
    expect([table, rows]).toEqual([table, 0]);
  }
  const sql = "SELECT items, deleted, files, file_bytes, sealed_bytes FROM vaults WHERE id = ?";
  expect(await env.DB.prepare(sql).bind(vault).first()).toEqual({
    items: 0,
    deleted: 0,
    files: 0,
    file_bytes: 0,
    sealed_bytes: 0,
  });
}

describe.each(KEPT)("with $versions earlier versions and $days days for deleted Items", (kept) => {
  it("any sequence of writes equals the model after every step, and leaves nothing when everything is destroyed", async () => {
    const vaults: string[] = [];
    const property = fc.asyncProperty(commandsOf(runs(STEPS, 1), STEPS), async (commands) => {
      const play = await run(kept, commands);
      vaults.push(play.vault);
      await destroyAll(play);
      await untilLogged();
    });
    await fc.assert(property, { numRuns: runs(1, 40) });
    try {
      for (let days = 0; days < 40; days += 8) {
        advanceClock(8 * DAY);
        for (const vault of vaults) await runDueAlarms(vault);
      }
    } finally {
      vi.useRealTimers();
    }
    for (const vault of vaults) expect(await objectsOf(vault)).toEqual([]);
    expect(words.length).toBeGreaterThan(10);
    words.splice(0, words.length - SEARCHED);
    expect(found(await dumpOfDatabase())).toEqual([]);
    expect(found(lines.join("\n"))).toEqual([]);
  });
});
