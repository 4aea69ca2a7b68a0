import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { admin, sendRequest } from "../sdk/support/requests.ts";
import { injectFault } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems, seed } from "./support/seed.ts";

/** What a page loads after writes of others and its own, and which of two answers it shows. */

/** The requests of whole lists from now on, without those of single Items. */
function recordLists(page: Page): string[] {
  const urls: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith("/items") && !searchParams.has("filter") && request.method() === "GET") urls.push(request.url());
  });
  return urls;
}

it("a page that was hidden loads the Items that it has missed when it is shown again, and no list", async () => {
  const { vault, token } = await seed([login("Before")]);
  const page = await openPage({ token, fresh: true });
  await page.goto("/console/");
  await page.locator(".rows").getByRole("link", { name: "Before" }).waitFor();
  const show = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  // The first may be in the list that is loaded when the stream opens; the second is loaded alone.
  for (const title of ["First seen", "Later seen"]) {
    await makeItems(token, vault, [login(title)]);
    await page.locator(".rows").getByRole("link", { name: title }).waitFor();
  }
  const lists = recordLists(page);
  await show(true);
  await makeItems(token, vault, [login("Missed")]);
  expect(await page.locator(".rows").getByRole("link", { name: "Missed" }).count()).toBe(0);
  await show(false);
  await page.locator(".rows").getByRole("link", { name: "Missed" }).waitFor();
  expect(lists).toEqual([]);
});

it("a write of the page right after it has loaded the lists does not load them again", async () => {
  const { vault, token, items } = await seed([login("Own")]);
  const page = await openPage({ token });
  // When the stream has opened, the page asks once more which vaults have changed.
  const listsLoaded = page.waitForResponse("**/v1/events?*").then(() => page.waitForResponse("**/v1/vaults"));
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("button", { name: "Favorite", exact: true }).waitFor();
  await listsLoaded;
  const lists = recordLists(page);
  await page.getByRole("button", { name: "Favorite", exact: true }).click();
  await page.getByText("Added to favorites").waitFor();
  await makeItems(token, vault, [login("Arrives")]);
  await page.locator(".rows").getByRole("link", { name: "Arrives" }).waitFor();
  expect(lists).toEqual([]);
});

it("a list from before a write of the page does not take the place of a newer one", async () => {
  const { vault, token, items } = await seed([login("Own")]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.locator(".rows").getByRole("link", { name: "Own" }).waitFor();
  const list = await injectFault(page, "GET", "/v1/vaults/*/items", "late");
  await makeItems(token, vault, [login("Arrives")]);
  await list.answered;
  await page.getByRole("button", { name: "More actions", exact: true }).click();
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await page.locator(".toast", { hasText: "Archived" }).waitFor();
  list.end();
  await page.locator(".rows").getByRole("link", { name: "Arrives" }).waitFor();
  expect(await page.locator(".rows").getByRole("link", { name: "Own" }).count()).toBe(0);
});

it("a late answer to a write does not take the place of what somebody else has written since", async () => {
  const { vault, token, items } = await seed([login("Own")]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.locator(".rows").getByRole("link", { name: "Own" }).waitFor();
  const write = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "late");
  await page.getByRole("button", { name: "Favorite", exact: true }).click();
  await write.answered;
  const change = [{ op: "replace", path: "/title", value: "Theirs" }];
  await sendRequest("PATCH", `v1/vaults/${vault}/items/${items[0]}`, token, change);
  await page.locator(".rows").getByRole("link", { name: "Theirs" }).waitFor();
  write.end();
  await page.getByText("Added to favorites").waitFor();
  expect(await page.locator(".rows").getByRole("link", { name: "Own" }).count()).toBe(0);
});

it("a page whose position the service has no more begins at the newest write, and loads all lists", async () => {
  const { vault, token } = await seed([login("Before")]);
  const page = await openPage({ token });
  let requests = 0;
  await page.route("**/v1/events*", (route) => {
    requests++;
    if (requests === 1) return route.fulfill({ headers: { "Content-Type": "text/event-stream" }, body: "id: old\n\n" });
    if (requests > 2) return route.continue();
    return route.fulfill({
      status: 410,
      headers: { "Content-Type": "application/json", "Item-Vault-Error": "cursor_gone" },
      body: JSON.stringify({ status: 410, message: "The cursor is gone" }),
    });
  });
  // As the list was before the database was restored, at the same number of writes.
  await page.route("**/v1/vaults/*/items?*", (route) => route.fulfill({ json: [] }), { times: 1 });
  await page.goto("/console/");
  await page.locator(".rows").getByRole("link", { name: "Before" }).waitFor();
  await expect.poll(() => requests).toBe(3);
  await makeItems(token, vault, [login("Arrives")]);
  await page.locator(".rows").getByRole("link", { name: "Arrives" }).waitFor();
});

it("an open Item that an older list does not have stays as it is shown", async () => {
  const { vault, token, items } = await seed([login("Open"), login("Changes")]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("heading", { name: "Open" }).waitFor();
  await page.locator(".rows").getByRole("link", { name: "Changes" }).waitFor();
  await page.evaluate("document.querySelector('article').marked = true");
  await page.route("**/v1/vaults/*/items?*", (route) => route.fulfill({ json: [] }));
  const checked = page.waitForResponse(`**/v1/vaults/${vault}/items/${items[0]}`);
  // A write to the vault itself loads the list.
  await admin("PATCH", `vaults/${vault}`, { name: "Renamed" });
  await checked;
  await expect.poll(() => page.locator(".rows").getByRole("link", { name: "Changes" }).count()).toBe(0);
  expect(await page.evaluate("document.querySelector('article')?.marked")).toBe(true);
});

it("a write of another client loads its Item alone, and a stream that opens again no list that is shown already", async () => {
  const { vault, token, items } = await seed([login("First"), login("Second")]);
  const page = await openPage({ token });
  const requests: string[] = [];
  page.on("requestfinished", (request) => {
    const url = new URL(request.url());
    if (/\/v1\/vaults(\/[^/]+\/items)?$/.test(url.pathname))
      requests.push(`${url.pathname.replace(vault, "v")} ${url.searchParams.get("filter") ?? ""}`);
  });
  await page.goto("/console/");
  await page.locator(".rows").getByRole("link", { name: "Second" }).waitFor();
  await expect.poll(() => requests.length).toBe(3); // the vaults and their lists, and the vaults when the stream opens
  const [made] = await makeItems(token, vault, [login("Third")]);
  await page.locator(".rows").getByRole("link", { name: "Third" }).waitFor();
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[0]}`, token);
  await expect.poll(() => page.locator(".rows").getByRole("link", { name: "First" }).count()).toBe(0);
  expect(requests.slice(3)).toEqual([`/v1/vaults/v/items id eq "${made}"`, `/v1/vaults/v/items id eq "${items[0]}"`]);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    Object.defineProperty(document, "hidden", { value: false, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await makeItems(token, vault, [login("Fourth")]);
  await page.locator(".rows").getByRole("link", { name: "Fourth" }).waitFor();
  expect(requests.slice(5)).not.toContain("/v1/vaults/v/items ");
});

it("an Item that is deleted while it is being loaded does not come back", async () => {
  const { vault, token } = await seed([login("Before")]);
  const page = await openPage({ token });
  await page.goto("/console/");
  await page.locator(".rows").getByRole("link", { name: "Before" }).waitFor();
  const list = await injectFault(page, "GET", "/v1/vaults/*/items", "late");
  const [item] = await makeItems(token, vault, [login("Gone")]);
  await list.answered;
  await sendRequest("DELETE", `v1/vaults/${vault}/items/${item}`, token);
  await makeItems(token, vault, [login("Later")]);
  await new Promise((resolve) => setTimeout(resolve, 300)); // the events arrive, and nothing in the page tells
  list.end();
  await page.locator(".rows").getByRole("link", { name: "Later" }).waitFor();
  expect(await page.locator(".rows").getByRole("link", { name: "Gone" }).count()).toBe(0);
});

it("a foreign write that is being loaded while this page writes appears", async () => {
  const { vault, token, items } = await seed([login("Own")]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("heading", { name: "Own" }).waitFor();
  await page.locator(".rows").getByRole("link", { name: "Own" }).waitFor();
  const list = await injectFault(page, "GET", "/v1/vaults/*/items", "network");
  expectProblem(page, /ERR_CONNECTION_FAILED/);
  await makeItems(token, vault, [login("Foreign")]);
  await expect.poll(() => list.requests.length).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Favorite", exact: true }).click();
  await page.getByText("Added to favorites").waitFor();
  list.end();
  await makeItems(token, vault, [login("Third")]);
  await page.locator(".rows").getByRole("link", { name: "Third" }).waitFor();
  await page.locator(".rows").getByRole("link", { name: "Foreign" }).waitFor();
});
