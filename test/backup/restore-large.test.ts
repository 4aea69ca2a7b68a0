import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { backUp, rowsInDatabase } from "../support/backup.ts";
import { restore } from "../support/restores.ts";
import { isLong } from "../support/runs.ts";
import { login, seedItems } from "../support/seed.ts";
import { freshVault } from "../support/service.ts";

/** Backup and restore of a vault with 10,000 Items, in the long run. */

const ITEMS = isLong ? 10_000 : 100;

describe("a large vault", () => {
  it(`is backed up and restored with ${ITEMS} Items`, async () => {
    const { vault } = await freshVault();
    await seedItems(
      env,
      vault,
      Array.from({ length: ITEMS }, (_one, index) => login(vault, `Item ${index}`)),
    );
    const { activity: _, ...before } = await rowsInDatabase(vault);
    await backUp(vault);
    await env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(vault).run();
    expect(await restore({ vault })).toMatchObject({ status: 200, body: { items: ITEMS } });
    const { activity: __, ...after } = await rowsInDatabase(vault);
    expect(after).toEqual(before);
  });
});
