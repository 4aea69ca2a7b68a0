import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { canary, dumpOfDatabase, found, words } from "../support/canary.ts";
import { bytesOf } from "../support/files.ts";
import { passDays } from "../support/restore.ts";
import { client, makeToken } from "../support/service.ts";
import { freshWriter } from "../support/versions.ts";

/** What was destroyed is nowhere (contract 14.17): not in D1, not in R2 and not in the storage of the coordinator. */

afterEach(() => {
  vi.useRealTimers();
  words.length = 0;
});

/** An Item of three versions. The first two have random words everywhere, the second one a File too; the third one has none. */
async function itemWithPast() {
  const { vault, items } = await freshWriter();
  const call = client((await makeToken({ [vault]: "rwd" })).token);
  const secret = { title: canary(), category: "LOGIN", tags: [canary()], fields: [{ label: canary(), value: canary() }] };
  const { body } = await call("POST", items, { body: secret });
  const path = `${items}/${body.id}`;
  const { body: file } = await call("POST", `${path}/files?name=${canary()}`, { body: canary() });
  await call("DELETE", `${path}/files/${file.id}`);
  await call("PUT", path, { body: { title: "plain", category: "LOGIN", vault: { id: vault } } });
  return { vault, items, call, path, item: body.id as string, deleted: `/v1/vaults/${vault}/deleted-items/${body.id}` };
}

/** The sealed columns of every row that belongs to earlier versions, and the keys of the contents in R2. */
async function tracesOf(vault: string): Promise<string[]> {
  const all = async (sql: string) =>
    (await env.DB.prepare(sql).bind(vault).all<Record<string, string>>()).results.flatMap((row) => Object.values(row));
  return [
    ...(await all("SELECT overview, details FROM item_versions WHERE vault_id = ?")),
    ...(await all("SELECT sealed FROM file_versions WHERE vault_id = ?")),
  ];
}

/** Everything that is stored: D1, R2 with its keys, and the storage of the coordinator. */
async function dumpOfAll(vault: string): Promise<string> {
  const objects = (await env.FILES.list()).objects.map(({ key }) => key);
  const contents = await Promise.all(
    objects.map(async (key) => new TextDecoder("latin1").decode(await bytesOf(new Response((await env.FILES.get(key))!.body)))),
  );
  const own = await runInDurableObject(env.COORDINATOR.getByName(vault), (_, { storage }) =>
    JSON.stringify(storage.sql.exec("SELECT * FROM watched").toArray()),
  );
  return [await dumpOfDatabase(), ...objects, ...contents, own].join("\n");
}

describe("destroyed", () => {
  it.each([
    [
      "versions",
      async ({ call, path }: Awaited<ReturnType<typeof itemWithPast>>) => {
        for (const version of [1, 2, 3]) expect((await call("DELETE", `${path}/versions/${version}`)).status).toBe(204);
        expect((await call("GET", path)).body.title).toBe("plain");
      },
    ],
    [
      "deleted Items",
      async ({ call, path, deleted }: Awaited<ReturnType<typeof itemWithPast>>) => {
        await call("DELETE", path);
        expect((await call("DELETE", deleted)).status).toBe(204);
      },
    ],
  ])("%s leave no trace: no sealed text in D1 at once, no content in R2 after its retention", async (_, destroy) => {
    const made = await itemWithPast();
    const traces = await tracesOf(made.vault);
    const before = await dumpOfAll(made.vault);
    expect(traces.length).toBe(7);
    expect(traces.every((trace) => before.includes(trace))).toBe(true);
    await destroy(made);
    const after = await dumpOfAll(made.vault);
    expect([traces.filter((trace) => after.includes(trace)), found(after)]).toEqual([[], []]);
    await passDays(made.vault, 32);
    expect((await env.FILES.list({ prefix: `${made.vault}/` })).objects).toEqual([]);
  });
});
