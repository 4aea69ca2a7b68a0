import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { recordingQueue } from "../support/activity.ts";
import { countingDatabase } from "../support/bindings.ts";
import { freshVault, LOGIN, nextOf, pagesFrom } from "../support/service.ts";
import { login, seedItems } from "../support/seed.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Archived Items (contract 14.14 to 14.16). */

async function vaultWith(...titles: string[]) {
  const fresh = await freshVault();
  const paths: string[] = [];
  for (const title of titles) {
    const { body } = await fresh.call("POST", fresh.items, { body: { ...LOGIN, title } });
    paths.push(`${fresh.items}/${body.id}`);
  }
  /** The titles of a list, sorted. */
  const titlesOf = async (query = ""): Promise<string[]> => {
    const { body } = await fresh.call("GET", `${fresh.items}?${query}`);
    return body.map(({ title }: { title: string }) => title).toSorted();
  };
  return { ...fresh, paths, titlesOf };
}

const titleIs = (title: string) => `filter=${encodeURIComponent(`title eq "${title}"`)}`;

describe("POST …/archive", () => {
  it("answers the full Item with state ARCHIVED and a new version, and GET of the Item works as before", async () => {
    const { call, paths } = await vaultWith("A");
    const archived = await call("POST", `${paths[0]}/archive`);
    expect(archived).toMatchObject({ status: 200, body: { title: "A", state: "ARCHIVED", version: 2, fields: [] } });
    const read = await call("GET", paths[0]!);
    expect([read.status, read.body]).toEqual([200, archived.body]);
    expect(read.headers.get("ETag")).toBe(archived.headers.get("ETag"));
  });

  it("of an archived Item answers it unchanged, and is logged as a READ of it", async () => {
    const { call, paths } = await vaultWith("A");
    await call("POST", `${paths[0]}/archive`);
    const { rows, bindings } = recordingQueue();
    expect((await call("POST", `${paths[0]}/archive`, { env: bindings })).body).toMatchObject({ version: 2, state: "ARCHIVED" });
    await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
    expect(rows[0]).toMatchObject({ action: "READ", result: "SUCCESS", item: paths[0]!.split("/").at(-1), version: 2 });
  });

  it("keeps the state through PUT and PATCH, whatever state they send", async () => {
    const { vault, call, paths } = await vaultWith("A");
    await call("POST", `${paths[0]}/archive`);
    const put = await call("PUT", paths[0]!, { body: { ...LOGIN, vault: { id: vault }, state: "DELETED" } });
    const patched = await call("PATCH", paths[0]!, { body: [{ op: "replace", path: "/title", value: "B" }] });
    expect([put.body.state, patched.body.state]).toEqual(["ARCHIVED", "ARCHIVED"]);
  });

  it("and unarchive are two requests: the Idempotency-Key of one is a 409 for the other", async () => {
    const { call, paths } = await vaultWith("A");
    const headers = { "Idempotency-Key": "mine" };
    await call("POST", `${paths[0]}/archive`, { headers });
    expect((await call("POST", `${paths[0]}/unarchive`, { headers })).status).toBe(409);
  });
});

describe("POST …/unarchive", () => {
  it("removes the state with a new version, and the Item is in the list again", async () => {
    const { call, paths, titlesOf } = await vaultWith("A");
    await call("POST", `${paths[0]}/archive`);
    const { body } = await call("POST", `${paths[0]}/unarchive`);
    expect([body.version, "state" in body, await titlesOf()]).toEqual([3, false, ["A"]]);
  });

  it("of an Item that is not archived answers it unchanged", async () => {
    const { call, paths } = await vaultWith("A");
    expect((await call("POST", `${paths[0]}/unarchive`)).body.version).toBe(1);
  });
});

describe("a list", () => {
  it.each([
    ["", ["A"]],
    ["archived=false", ["A"]],
    ["archived=true", ["A", "A", "B"]],
    [titleIs("A"), ["A"]],
    [titleIs("B"), []],
    [`archived=true&${titleIs("B")}`, ["B"]],
    [`${titleIs("A")}&archived=true`, ["A", "A"]],
  ])("has an archived Item only with archived=true, beside one of the same title that is not: %s", async (query, expected) => {
    const { call, paths, titlesOf } = await vaultWith("A", "A", "B");
    for (const path of [paths[0], paths[2]]) await call("POST", `${path}/archive`);
    expect(await titlesOf(query)).toEqual(expected);
  });

  it("reads a filter as one title when only the last of many Items with that title is not archived", async () => {
    const { vault, titlesOf } = await vaultWith();
    const title = 'A" and tag eq "x';
    const archived = Array.from({ length: 12 }, (_, index) => ({
      ...login(vault, title, { state: "ARCHIVED" }),
      id: `00000000-0000-4000-8000-0000000000${String(index).padStart(2, "0")}`,
    }));
    const last = { ...login(vault, title), id: "ffffffff-0000-4000-8000-000000000000" };
    await seedItems(env, vault, [...archived, last]);
    expect(await titlesOf(titleIs(title))).toEqual([title]);
  });

  it("is paged without archived Items, and the link keeps archived=true", async () => {
    const titles = Array.from({ length: 8 }, (_, index) => `T${index}`);
    const { call, items, paths } = await vaultWith(...titles);
    for (const path of paths.slice(0, 5)) await call("POST", `${path}/archive`);
    for (const [query, expected] of [
      ["limit=2", titles.slice(5)],
      ["limit=2&archived=true", titles],
    ] as const) {
      const pages = await pagesFrom(call, `${items}?${query}`);
      expect(pages.every(({ length }) => length <= 2)).toBe(true);
      expect(
        pages
          .flat()
          .map(({ title }): string => title)
          .toSorted(),
      ).toEqual(expected);
    }
  });

  it("costs at most 5 D1 calls for a page of one Item behind 4,500 archived ones", async () => {
    const { vault, call, items } = await vaultWith();
    await seedItems(
      env,
      vault,
      Array.from({ length: 4_500 }, (_, index) => login(vault, `Item ${index}`, { state: "ARCHIVED" })),
    );
    const { count, db } = countingDatabase();
    const reply = await call("GET", `${items}?limit=1`, { env: { DB: db } });
    expect([reply.status, reply.body, nextOf(reply) !== undefined]).toEqual([200, [], true]);
    expect(count.calls).toBeLessThanOrEqual(5);
  });
});
