import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { foldedIndex } from "../../src/store/items/items.ts";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { keysIn } from "../support/seed.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** `items.folded_index`: the index of folded titles (docs/design/reads.md). */

/** The ids of the Items that the index finds under a name. */
async function found(vault: string, name: string): Promise<string[]> {
  const { results } = await env.DB.prepare("SELECT id FROM items WHERE vault_id = ?1 AND folded_index = ?2")
    .bind(vault, await foldedIndex(await keysIn(env, vault), name))
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

const title = (value: string) => [{ op: "replace", path: "/title", value }];

describe("a write", () => {
  it("puts a new Item into the index of folded titles, and moves it when its title changes", async () => {
    const { vault, items, call } = await freshVault();
    const { body } = await call("POST", items, { body: { ...LOGIN, title: "ΟΔΟΣ" } });
    expect(await found(vault, "οδος")).toEqual([body.id]);
    await call("PATCH", `${items}/${body.id}`, { body: title("Straße") });
    expect([await found(vault, "οδος"), await found(vault, "STRASSE")]).toEqual([[], [body.id]]);
    await call("PATCH", `${items}/${body.id}`, { body: title("STRASSE") });
    expect(await found(vault, "strasse")).toEqual([body.id]);
  });

  it("that keeps the title writes no row of the index", async () => {
    const { vault, items, call } = await freshVault();
    const { body } = await call("POST", items, { body: LOGIN });
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    await call("PATCH", `${items}/${body.id}`, { body: [{ op: "replace", path: "/favorite", value: true }] });
    expect(count.rowsWritten).toBe(5);
  });

  it("stores no folded title that equals the blind index of any text", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: { ...LOGIN, title: "login" } });
    const row = await env.DB.prepare("SELECT title_index, folded_index FROM items WHERE vault_id = ?").bind(vault).first<any>();
    expect(row.folded_index).not.toBe(row.title_index);
  });
});
