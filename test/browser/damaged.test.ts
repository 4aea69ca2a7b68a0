import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { sendRequest } from "../sdk/support/requests.ts";
import { openPage } from "./support/page.ts";
import { login, seed } from "./support/seed.ts";

/** The console with a stored record that does not open, in a list or of a File (contract 9.14, 11.10, 14.2, 14.9). */

const ID = "11111111-1111-4111-8111-111111111111";

/** Puts an entry before those that a list of the service has. */
const addEntry = (page: Page, path: string, entry: object) =>
  page.route(
    (url) => url.pathname === path,
    async (route) => {
      const headers = { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" };
      const response = await route.fetch({ headers });
      return route.fulfill({ response, json: [entry, ...((await response.json()) as object[])] });
    },
  );

it("the list of Items has one that does not open under a name that says so, beside the others", async () => {
  const { vault, token } = await seed([login("Grafana")]);
  const page = await openPage({ token });
  await addEntry(page, `/v1/vaults/${vault}/items`, { id: ID, vault: { id: vault }, broken: "integrity" });
  await page.goto("/console/#/items");
  const list = page.getByRole("region", { name: "Items" });
  await expect.poll(() => list.getByText("Damaged item 11111111").count()).toBe(1);
  expect(await list.getByText("Grafana").count()).toBe(1);
});

it("the list of deleted Items has one that does not open, beside the others", async () => {
  const { vault, token, items } = await seed([login("Grafana")], { permission: "rwd" });
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[0]}`, token);
  const page = await openPage({ token });
  const entry = {
    id: ID,
    vault: { id: vault },
    broken: "integrity",
    state: "DELETED",
    deletedAt: "1970-01-01T00:00:00.000Z",
    deletedBy: "",
  };
  await addEntry(page, `/v1/vaults/${vault}/deleted-items`, entry);
  await page.goto("/console/#/deleted");
  const rows = page.getByRole("list", { name: "Deleted items" }).getByRole("link");
  await expect.poll(() => rows.count()).toBe(2);
  const texts = await rows.allInnerTexts();
  expect(texts.find((text) => text.includes("Damaged item 11111111"))).toContain("1970");
  expect(texts.find((text) => text.includes("Grafana"))).not.toContain("1970");
});

it("the list of versions has one that does not open, beside the others", async () => {
  const { vault, token, items } = await seed([login("Grafana")]);
  const path = `v1/vaults/${vault}/items/${items[0]}`;
  await sendRequest("PATCH", path, token, [{ op: "replace", path: "/title", value: "Renamed" }]);
  const page = await openPage({ token });
  await addEntry(page, `/${path}/versions`, { version: 7, current: false, broken: "integrity" });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("tab", { name: "History" }).click();
  await expect.poll(() => page.getByRole("button", { name: /Version 7.*unknown time.*Damaged version/s }).count()).toBe(1);
  expect(await page.getByRole("button", { name: /Version 1.*Grafana/s }).count()).toBe(1);
});

it("an Item has a File that does not open under a name that says so, and deletes it", async () => {
  const { vault, token, items } = await seed([login("Grafana")]);
  const path = `/v1/vaults/${vault}/items/${items[0]}`;
  const page = await openPage({ token });
  let deleted = "";
  await page.route(
    (url) => url.pathname === path,
    async (route) => {
      const headers = { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" };
      const response = await route.fetch({ headers });
      const item = (await response.json()) as object;
      return route.fulfill({ response, json: deleted === "" ? { ...item, brokenFiles: [ID] } : item });
    },
  );
  await page.route(
    (url) => url.pathname.startsWith(`${path}/files/`),
    (route) => {
      deleted = `${route.request().method()} ${route.request().url().split("/").at(-1)}`;
      return route.fulfill({ status: 204 });
    },
  );
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  const files = page.getByRole("region", { name: "Files" });
  await expect.poll(() => files.getByText("Damaged file 11111111").count()).toBe(1);
  await files.getByRole("button", { name: "Delete Damaged file 11111111" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await expect.poll(() => files.getByText("Damaged file 11111111").count()).toBe(0);
  expect(deleted).toBe(`DELETE ${ID}`);
});
