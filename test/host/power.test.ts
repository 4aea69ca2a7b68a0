import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { expect, inject, it } from "vitest";
import { isLong } from "../support/runs.ts";
import { itemOf, newDirectory, send } from "./support/server.ts";

const WRITES = isLong ? 20_000 : 1_200;
const WRITERS = 12;
/** Every so many syncs are two in a row copied. */
const COPIED = isLong ? 150 : 12;

const SECRETS = {
  ADMIN_TOKEN: randomBytes(32).toString("base64url"),
  METRICS_TOKEN: randomBytes(32).toString("base64url"),
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: randomBytes(32).toString("base64") } }),
};

interface Acknowledged {
  readonly item: string;
  readonly version: number;
  /** The number of the last sync before the answer. */
  readonly sync: number;
}

it("after a loss of power at any sync the data has every write that was acknowledged by then, and is whole", async () => {
  const { copies, acknowledged } = await writeUnderRecord();
  const numbers = readdirSync(copies)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .toSorted((a, b) => a - b);
  expect(numbers.length).toBeGreaterThan(20);
  for (const number of numbers) {
    expectWhole(
      join(copies, String(number)),
      acknowledged.filter(({ sync }) => sync <= number),
    );
    const torn = tornCopy(copies, number, number + 1);
    if (torn !== undefined)
      expectWhole(
        torn,
        acknowledged.filter(({ sync }) => sync <= number),
      );
  }
});

/** Writes to a server that copies its files at syncs. */
async function writeUnderRecord(): Promise<{ copies: string; acknowledged: readonly Acknowledged[] }> {
  const copies = mkdtempSync(join(tmpdir(), "power-"));
  const script = ["--conditions=source", "--disable-warning=ExperimentalWarning", "test/host/support/recorded-server.ts"];
  const args = [newDirectory(), inject("release"), copies, JSON.stringify(SECRETS), String(COPIED)];
  const server = spawn(process.execPath, [...script, ...args], { stdio: ["ignore", "inherit", "pipe"] });
  const [line] = (await once(createInterface({ input: server.stderr }), "line")) as [string];
  const url = line.replace("listening on ", "");
  const { body: vault } = await send(url, SECRETS.ADMIN_TOKEN, "POST", "/v1/admin/vaults", { name: "Power" });
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(url, vault.id, writer));
  await Promise.all(writers);
  const exited = once(server, "exit");
  server.kill("SIGTERM");
  await exited;
  return { copies, acknowledged: JSON.parse(readFileSync(join(copies, "acknowledged.json"), "utf8")) as Acknowledged[] };
}

/** Creates Items and replaces each second one, with a token of its own. */
async function write(url: string, vault: string, writer: number): Promise<void> {
  const { body: issued } = await send(url, SECRETS.ADMIN_TOKEN, "POST", "/v1/admin/tokens", {
    name: "w",
    vaults: { [vault]: "rw" },
  });
  const items = `/v1/vaults/${vault}/items`;
  for (let number = 0; number < WRITES / WRITERS / 2; number++) {
    const item = itemOf(vault, `${writer}-${number}`);
    const created = await send(url, issued.token, "POST", items, item);
    const replaced = await send(url, issued.token, "PUT", `${items}/${created.body.id}`, { ...item, id: created.body.id });
    expect([created.status, replaced.status]).toEqual([200, 200]);
  }
}

/**
 * Makes what the disk may have just before the next sync ends: of the log each page of before or of then. Returns undefined if the log was begun
 * again, since its earlier pages count for nothing then.
 */
function tornCopy(copies: string, number: number, next: number): string | undefined {
  const [before, after] = [number, next].map((one) => {
    try {
      return readFileSync(join(copies, `${one}-wal`));
    } catch {
      return undefined;
    }
  });
  if (!before || !after || !before.subarray(0, LOG_HEADER_BYTES).equals(after.subarray(0, LOG_HEADER_BYTES))) return undefined;
  const torn = Buffer.from(after);
  for (let at = LOG_HEADER_BYTES, frame = 0; at < torn.length; at += FRAME_BYTES, frame++) {
    const isOld = (frame * 7 + number) % 3 === 0;
    if (isOld) torn.fill(0, at, at + FRAME_BYTES).set(before.subarray(at, at + FRAME_BYTES), at);
  }
  const path = join(copies, `torn-${number}`);
  copyFileSync(join(copies, String(number)), path);
  writeFileSync(`${path}-wal`, torn.subarray(0, torn.length - (number % FRAME_BYTES)));
  return path;
}

/** SQLite's format of the log (sqlite.org/fileformat2.html#walformat). */
const LOG_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;

function expectWhole(path: string, acknowledged: readonly Acknowledged[]): void {
  const db = new DatabaseSync(path);
  expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  const rows = db.prepare("SELECT id, version FROM items").all() as { id: string; version: number }[];
  const versions = new Map(rows.map(({ id, version }) => [id, version]));
  const lost = acknowledged.filter(({ item, version }) => (versions.get(item) ?? 0) < version);
  expect({ path, lost }).toEqual({ path, lost: [] });
  db.close();
}
