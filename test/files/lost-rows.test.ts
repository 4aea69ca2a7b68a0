import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { TABLES } from "../../src/store/tables/tables.ts";
import { renewCoordinator } from "../support/bindings.ts";
import { recordUpload } from "../support/faults.ts";
import { bytesOf, freshItem, objectsOf, pattern } from "../support/files.ts";
import { passDaysQuickly } from "../support/restore.ts";
import { run, verifyAll } from "../verify/support/verify.ts";

/** The content of a File whose row is lost or damaged may be the last copy: it is named, and never swept (contract 22.5, 23.7). */

afterEach(() => {
  vi.useRealTimers();
});

/** A File of which both contents are kept: the current one, and that of an earlier version. */
async function freshContents() {
  const at = await freshItem();
  const { id: file } = (await at.upload(pattern(30))).body;
  const body = pattern(20);
  await at.call("PUT", `${at.files}/${file}/content`, { body, headers: { "Content-Length": "20" } });
  return { ...at, file: file as string, objects: await objectsOf(at.vault) };
}

const NUMBERS: ReadonlySet<string> = new Set(["size", "since", "until"]);
const OTHER = "0b0b0b0b-0000-4000-8000-000000000000";

/** Each way to lose or damage a row of a File: its deletion, and another value in each column. */
const LOSSES = (["files", "file_versions"] as const).flatMap((table) =>
  ["the row", ...Object.keys(TABLES[table].columns)].map((column) => {
    const value = NUMBERS.has(column) ? `${column} + 1` : `'${OTHER}'`;
    const change = column === "the row" ? "DELETE FROM" : "UPDATE";
    const set = column === "the row" ? "" : `SET ${column} = ${value}`;
    return [table, column, `${change} ${table} ${set} WHERE vault_id = ?1`] as const;
  }),
);

describe.each(LOSSES)("when %s loses %s of a File", (_table, _column, sql) => {
  it("`verify --repair` names it twice, and no content is deleted in 40 days", async () => {
    const { vault, item, call, path, objects } = await freshContents();
    await run(sql, vault);
    await renewCoordinator(vault, {});
    const named = async () =>
      (await verifyAll({ vault, quick: true, repair: true })).findings.filter(({ repaired }) => repaired !== true);
    const findings = await named();
    expect(findings).not.toEqual([]);
    expect(await named()).toEqual(findings);
    expect((await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: item }] })).status).toBe(200);
    await passDaysQuickly(vault, 40);
    expect(await objectsOf(vault)).toEqual(objects);
    await run("DELETE FROM files WHERE vault_id = ?1", OTHER);
    await run("DELETE FROM file_versions WHERE vault_id = ?1", OTHER);
  });
});

it.each([
  ["files", "file_versions"],
  ["file_versions", "files"],
])(
  "while a row of %s names the content of another version of its File, no content is deleted in 40 days",
  async (table, other) => {
    const { vault, objects } = await freshContents();
    const named = `SELECT generation FROM ${other} AS other WHERE other.vault_id = ?1 AND other.id = ${table}.id`;
    await run(`UPDATE ${table} SET generation = (${named}) WHERE vault_id = ?1`, vault);
    await renewCoordinator(vault, {});
    expect((await verifyAll({ vault, repair: true })).findings).not.toEqual([]);
    await passDaysQuickly(vault, 40);
    expect(await objectsOf(vault)).toEqual(objects);
  },
);

describe("a lost row of a File", () => {
  it("is a count that no repair changes, and a content that is named as lost; the row, when it comes back, has its content", async () => {
    const { vault, file, download } = await freshContents();
    const { results } = await env.DB.prepare("SELECT * FROM files WHERE vault_id = ?").bind(vault).all();
    await run("DELETE FROM files WHERE vault_id = ?1", vault);
    await renewCoordinator(vault, {});
    const { findings } = await verifyAll({ vault, repair: true });
    expect(findings.filter(({ repairable }) => !repairable)).toMatchObject([
      {
        kind: "counter_wrong",
        vault,
        id: "files",
        detail:
          "files is 1, and the rows give 0: 1 rows are missing. Those that the log names are findings of their own, the others cannot be named",
      },
      { kind: "counter_wrong", vault, id: "file_bytes" },
      { kind: "content_orphaned", vault, file },
    ]);
    await passDaysQuickly(vault, 40);
    const row = results[0]!;
    const values = Object.keys(row).map(() => "?");
    await run(`INSERT INTO files (${Object.keys(row).join()}) VALUES (${values.join()})`, ...Object.values(row));
    expect(await bytesOf(await download(file))).toEqual(pattern(20));
  });

  it("keeps the contents that the coordinator has a record of, until its loss is accepted", async () => {
    const { vault, item, objects } = await freshContents();
    for (const key of objects) await recordUpload(vault, item, key);
    await run("DELETE FROM files WHERE vault_id = ?1", vault);
    await run("DELETE FROM file_versions WHERE vault_id = ?1", vault);
    await renewCoordinator(vault, {});
    await passDaysQuickly(vault, 40);
    expect(await objectsOf(vault)).toEqual(objects);
    await verifyAll({ vault, repair: true, acceptLoss: true });
    expect((await verifyAll({ vault })).findings).toEqual([]);
    await passDaysQuickly(vault, 32);
    expect(await objectsOf(vault)).toEqual([]);
  });
});
