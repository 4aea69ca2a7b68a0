import { expect, it } from "vitest";
import { button, changeAnswers, confirm, listed, openItem } from "./support/console.ts";
import { login } from "./support/seed.ts";

/** The console with a stored record that does not open, in a list or of a File (contract 9.14, 11.10, 14.2, 14.9). */

const ID = "11111111-1111-4111-8111-111111111111";
const ITEMS = [login("Grafana"), login("Kept")];
const broken = { id: ID, broken: "integrity" };

it("the list of Items has one that does not open under a name that says so, beside the others", async () => {
  const { page, vault } = await openItem(ITEMS);
  await changeAnswers(page, `/v1/vaults/${vault}/items`, (items) => [{ ...broken, vault: { id: vault } }, ...items]);
  await page.reload();
  const list = page.getByRole("region", { name: "Items" });
  await expect.poll(() => list.getByText("Damaged item 11111111").count()).toBe(1);
  expect(await list.getByText("Grafana").count()).toBe(1);
});

it("the list of deleted Items has one that does not open, beside the others", async () => {
  const { page, vault, remove } = await openItem(ITEMS);
  await remove();
  const state = { state: "DELETED", deletedAt: "1970-01-01T00:00:00.000Z", deletedBy: "" };
  await changeAnswers(page, `/v1/vaults/${vault}/deleted-items`, (items) => [
    { ...broken, ...state, vault: { id: vault } },
    ...items,
  ]);
  await page.goto("/console/#/deleted");
  await expect.poll(() => listed(page).count()).toBe(2);
  const texts = await listed(page).allInnerTexts();
  expect(texts.find((text) => text.includes("Damaged item 11111111"))).toContain("1970");
  expect(texts.find((text) => text.includes("Grafana"))).not.toContain("1970");
});

it("the list of versions has one that does not open, beside the others", async () => {
  const { page, path, patch, address } = await openItem(ITEMS);
  await patch({ "/title": "Renamed" });
  await changeAnswers(page, `/${path}/versions`, (versions) => [
    { version: 7, current: false, broken: "integrity" },
    ...versions,
  ]);
  await page.goto(`${address}/history`);
  await expect.poll(() => button(page, /Version 7.*unknown time.*Damaged version/s).count()).toBe(1);
  await expect.poll(() => button(page, /Version 1.*Grafana/s).count()).toBe(1);
});

it("an Item has a File that does not open under a name that says so, and deletes it", async () => {
  const { page, path } = await openItem(ITEMS);
  let deleted = "";
  await changeAnswers(page, `/${path}`, (item) => (deleted === "" ? { ...item, brokenFiles: [ID] } : item));
  await page.route(`**/${path}/files/*`, (route) => {
    deleted = `${route.request().method()} ${route.request().url().split("/").at(-1)}`;
    return route.fulfill({ status: 204 });
  });
  await page.reload();
  const files = page.getByRole("region", { name: "Files" });
  await expect.poll(() => files.getByText("Damaged file 11111111").count()).toBe(1);
  await button(files, "Delete Damaged file 11111111").click();
  await confirm(page, "Delete");
  await expect.poll(() => files.getByText("Damaged file 11111111").count()).toBe(0);
  expect(deleted).toBe(`DELETE ${ID}`);
});
