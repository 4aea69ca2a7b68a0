import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { countingDatabase, wrapDatabase } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";
import { fetchRaw, makeToken } from "../support/service.ts";
import { largeVault } from "./large-vault.ts";

/** Large vaults: the rows that a request reads, and the rows that a list holds in memory at a time. */

type Vault = Awaited<ReturnType<typeof largeVault>>;

/** The rows that a request reads. */
async function rowsRead({ call }: Vault, path: string): Promise<number> {
  const { count, db } = countingDatabase();
  const { status } = await call("GET", path, { env: { DB: db } });
  expect([status, count.calls]).toEqual([200, 1]);
  return count.rowsRead;
}

const titleFilter = ({ items }: Vault) => `${items}?filter=${encodeURIComponent('title eq "Item 7"')}`;

/** Requests a list. Out: the response, and the rows and characters that each D1 call returned. */
function readList({ items, token }: Pick<Vault, "items" | "token">, before?: (call: number) => Promise<void>) {
  const calls: { rows: number; characters: number }[] = [];
  const db = wrapDatabase(env.DB, {
    before: () => before?.(calls.length),
    after(results) {
      const rows = results.flatMap((result) => result.results);
      calls.push({ rows: rows.length, characters: JSON.stringify(rows).length });
    },
  });
  const response = fetchRaw("GET", items, { env: { DB: db }, headers: { Authorization: `Bearer ${token}` } });
  return { calls, response };
}

/** 50,000 in the long run. */
const MANY = runs(4_000, 50_000);
/** The number of Items that a list reads with one D1 call. */
const SLICE = 2_000;

describe(`a vault of ${MANY.toLocaleString("en")} Items`, () => {
  it("needs as many rows for a GET and a title eq as a vault of 10, and its list is streamed in slices", async () => {
    const [small, large] = [await largeVault(10), await largeVault(MANY)];
    const get = await Promise.all([small, large].map((vault) => rowsRead(vault, `${vault.items}/${vault.first}`)));
    const title = await Promise.all([small, large].map((vault) => rowsRead(vault, titleFilter(vault))));
    console.log(`rows read among 10 and ${MANY} Items: GET ${get.join(" and ")}, title eq ${title.join(" and ")}`);
    expect(get[1]).toBe(get[0]);
    // SQLite also reads the index entry after the match, if there is one.
    expect(Math.abs(title[1]! - title[0]!)).toBeLessThanOrEqual(1);

    const { calls, response } = readList(large);
    const body = (await response).body!;
    const chunks: string[] = [];
    let callsAtFirstChunk = 0;
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      callsAtFirstChunk ||= calls.length;
      chunks.push(chunk);
    }
    const ids = new Set((JSON.parse(chunks.join("")) as { id: string }[]).map(({ id }) => id));
    expect(ids.size).toBe(MANY);
    expect(calls.length).toBe(MANY / SLICE);
    expect(callsAtFirstChunk).toBeLessThan(5);
    // Each call also returns the row of the authorization and that of the last id.
    expect(Math.max(...calls.map(({ rows }) => rows))).toBeLessThanOrEqual(SLICE + 2);
  });
});

describe("a list", () => {
  const LARGE = { tags: Array.from({ length: 5 }, (_, index) => String(index).repeat(60_000)), title: "same" };
  /** Their summaries are more than a slice or a page may have. */
  const COUNT = 30;
  let large: Vault;
  let long: Vault;

  beforeAll(async () => {
    large = await largeVault(COUNT, LARGE);
    long = await largeVault(SLICE + 1);
  });

  it.each([
    ["of large summaries", ""],
    ["of large summaries that have one title", `?filter=${encodeURIComponent('title eq "same"')}`],
  ])("%s is read in slices of few Items", async (_, query) => {
    const { calls, response } = readList({ items: large.items + query, token: large.token });
    expect(await (await response).json()).toHaveLength(COUNT);
    expect(calls.length).toBeGreaterThan(1);
    expect(calls.length).toBeLessThan(6);
    expect(Math.max(...calls.map(({ characters }) => characters))).toBeLessThan(5 * 1024 * 1024);
  });

  it("of summaries that slightly exceed the size of a slice takes at most 4 D1 calls", async () => {
    const vault = await largeVault(3_000, { tags: ["x".repeat(2_000)] });
    const { calls, response } = readList(vault);
    expect(await (await response).json()).toHaveLength(3_000);
    expect(calls.length).toBeLessThanOrEqual(4);
    expect(Math.max(...calls.map(({ characters }) => characters))).toBeLessThan(5 * 1024 * 1024);
  });

  it("with a limit ends a page of large summaries early, and the next page has the rest", async () => {
    const { items, call } = large;
    const { body, headers } = await call("GET", `${items}?limit=${COUNT}`);
    expect(body.length).toBeLessThan(COUNT);
    const next = new URL(/<([^>]+)>/.exec(headers.get("Link")!)![1]!);
    expect((await call("GET", next.pathname + next.search)).body).toHaveLength(COUNT - body.length);
  });

  it("breaks off when its token is revoked while it is streamed (contract 4.10)", async () => {
    const { id, token } = await makeToken({ [long.vault]: "r" });
    const { response } = readList({ ...long, token }, async (call) => {
      if (call === 1) await env.DB.prepare("DELETE FROM tokens WHERE id = ?").bind(id).run();
    });
    expect((await response).status).toBe(200);
    await expect((await response).text()).rejects.toThrow("unauthorized");
  });

  it("takes one D1 call for HEAD, which sends no body", async () => {
    const { items, token } = long;
    const { count, db } = countingDatabase();
    const response = await fetchRaw("HEAD", items, { env: { DB: db }, headers: { Authorization: `Bearer ${token}` } });
    expect([response.status, await response.text(), count.calls]).toEqual([200, "", 1]);
  });
});

describe("a page with a filter that few Items match", () => {
  it("looks at 4,000 Items at most and reads at most 10,000 rows; its link leads on, and the last page has the match", async () => {
    const size = runs(4_100, 9_000);
    const { items, call } = await largeVault(size);
    const found: string[] = [];
    const rows: number[] = [];
    let path: string | undefined = `${items}?limit=1000&filter=${encodeURIComponent(`title co "Item ${size - 1}"`)}`;
    while (path !== undefined) {
      const { count, db } = countingDatabase();
      const { body, headers } = await call("GET", path, { env: { DB: db } });
      rows.push(count.rowsRead);
      found.push(...body.map(({ title }: { title: string }) => title));
      const next = /<([^>]+)>/.exec(headers.get("Link") ?? "")?.[1];
      path = next && new URL(next).pathname + new URL(next).search;
    }
    expect(found).toEqual([`Item ${size - 1}`]);
    expect(rows).toHaveLength(Math.ceil(size / 4_000));
    expect(Math.max(...rows)).toBeLessThanOrEqual(10_000);
  });
});
