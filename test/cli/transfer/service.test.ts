import { type Client, createClient } from "@item-vault/client";
import * as fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { fitTransfer } from "../../../packages/transfer/src/fit.ts";
import type { TransferItem } from "../../../packages/transfer/src/item.ts";
import { planItems } from "../../../packages/transfer/src/plan.ts";
import { inParallel } from "../../../packages/transfer/src/pool.ts";
import { readService } from "../../../packages/transfer/src/read-service.ts";
import { writeItem } from "../../../packages/transfer/src/write-item.ts";
import { makeToken, makeVault } from "../../sdk/support/vault.ts";
import { cases, item, plain } from "./support/items.ts";

/** Random Items, through the service. */

async function emptyVault() {
  const vault = await makeVault();
  const { token } = await makeToken({ [vault]: "rw" }, "uuid");
  return { vault, client: createClient({ host: inject("url"), token }) };
}

async function importInto(
  { client, vault }: { client: Client; vault: string },
  items: readonly TransferItem[],
): Promise<string[]> {
  const fitted = fitTransfer({ source: "s", items, losses: [] }).items;
  const target = { id: vault, name: "", client };
  const planned = await planItems(
    fitted.map((given) => ({ item: given, vault: target })),
    { format: "test", source: "s" },
  );
  return await inParallel(planned, async (each) => await writeItem({ client, vault }, each));
}

/** What an export of the vault has, without dates and the id of the vault, and with the Files in an order of their own: the service orders them by random ids. */
async function exportOf({ client, vault }: { client: Client; vault: string }): Promise<object[]> {
  const { items } = await readService(client, [{ id: vault, name: "" }]);
  const contents = (await Promise.all(items.map(plain))).map(({ files, ...rest }) => [
    rest,
    files.map((file) => JSON.stringify(file)).toSorted(),
  ]);
  const text = JSON.stringify(contents, (name, value: unknown) => (LEFT_OUT.has(name) ? undefined : value));
  return JSON.parse(text) as object[];
}

const LEFT_OUT = new Set(["createdAt", "updatedAt", "changedAt", "vaultId"]);

/** The long run has other Items each time. The name of the test has the seed. */
const SEED = process.env["LONG_RUN"] === "1" ? Date.now() & 0x7fffffff : 1;

describe(`random Items of seed ${SEED}`, () => {
  it("are equal after export, import into another vault, and export", async () => {
    const items = fc.sample(
      fc.uniqueArray(item, { minLength: cases(8), maxLength: cases(8), selector: ({ id }) => id, size: "max" }),
      { numRuns: 1, seed: SEED },
    )[0]!;
    const [one, two] = [await emptyVault(), await emptyVault()];
    expect(new Set(await importInto(one, items))).toEqual(new Set(["created"]));
    const { items: exported } = await readService(one.client, [{ id: one.vault, name: "" }]);
    await importInto(two, exported);
    const [before, after] = [await exportOf(one), await exportOf(two)];
    expect(before).toHaveLength(items.length);
    expect(after).toEqual(before);
    expect(new Set(await importInto(two, exported))).toEqual(new Set(["present"]));
  });
});
