import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { admin, sendRequest } from "../sdk/support/requests.ts";
import {
  button,
  choose,
  confirm,
  heading,
  listed,
  openItem,
  openList,
  press,
  see,
  titleField,
  toast,
} from "./support/console.ts";
import { injectFault } from "./support/faults.ts";
import { allowProblem, expectProblem } from "./support/problems.ts";
import { login, makeItems } from "./support/seed.ts";

/** The list and the open Item follow what others write, without a reload of the page: what is shown, and what is loaded for it. */

const LISTS = "/v1/vaults/*/items";

/** What another client does. */
const arrive = async (page: Page, token: string, vault: string, title: string): Promise<string> => {
  const [id] = await makeItems(token, vault, [login(title)]);
  await listed(page, title).waitFor();
  return id!;
};
const gone = (page: Page, title: string) => listed(page, title).waitFor({ state: "detached" });

/** The requests of whole lists from now on, without those of single Items. */
function recordLists(page: Page): string[] {
  const urls: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith("/items") && !searchParams.has("filter") && request.method() === "GET") urls.push(request.url());
  });
  return urls;
}

const setHidden = (page: Page, hidden: boolean): Promise<void> =>
  page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

describe("while the page is open, another client's", () => {
  it("new Item appears in the list, a deleted one leaves it, and a change is shown in the open Item", async () => {
    const { page, vault, token, items, patch, remove } = await openItem([
      login("Open", { username: "first-name" }),
      login("Leaves"),
    ]);
    expectProblem(page, /404/);
    const article = page.locator("article");
    await see(article, "first-name");
    await arrive(page, token, vault, "Arrives");
    await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[1]}`, token);
    await gone(page, "Leaves");
    await patch({ "/fields/username/value": "second-name" });
    await see(article, "second-name");
    await remove();
    await see(page, "This item was deleted.");
  });

  it("deletion of the vault of the open Item hides its values", async () => {
    const { page, vault } = await openItem([login("Open", { username: "shown-name" })]);
    expectProblem(page, /404/);
    await see(page.locator("article"), "shown-name");
    await listed(page, "Open").waitFor();
    await admin("DELETE", `vaults/${vault}`);
    await see(page, "This vault doesn’t exist, or you don’t have access to it.");
    expect(await page.getByText("shown-name").count()).toBe(0);
  });

  it("write appears although its load has failed, without a later write", async () => {
    const { page, vault, token } = await openList([login("Before")]);
    expectProblem(page, /503/);
    const list = await injectFault(page, "GET", LISTS, { status: 503, kind: "unavailable" });
    await makeItems(token, vault, [login("Arrives")]);
    await expect.poll(() => list.requests.length, { timeout: 120_000 }).toBe(3); // all attempts of the first load
    list.end();
    await listed(page, "Arrives").waitFor();
  });

  it("value that takes the place of a revealed one is not revealed, not even for a moment", async () => {
    const { page, patch } = await openItem([login("Revealed", { password: "first-value" })]);
    await press(page, "Reveal password");
    await see(page, "first-value");
    await page.evaluate(
      `new MutationObserver(() => document.body.textContent.includes("second-value") && (document.title = "revealed"))
        .observe(document.body, { childList: true, characterData: true, subtree: true })`,
    );
    await patch({ "/fields/password/value": "second-value" });
    await see(page, "version 2");
    expect(await page.title()).not.toBe("revealed");
    expect(await page.getByText("first-value").count()).toBe(0);
    expect(await button(page, "Reveal password").getAttribute("aria-pressed")).toBe("false");
  });

  it("change to the Item that is being edited leaves what was typed, and saving shows the conflict", async () => {
    const { page, patch } = await openItem([login("Edited")], { tab: "edit" });
    expectProblem(page, /412/);
    await titleField(page).fill("Typed");
    await patch({ "/title": "Theirs" });
    await listed(page, "Theirs").waitFor();
    expect(await titleField(page).inputValue()).toBe("Typed");
    await press(page, "Save");
    await heading(page, /changed/i).waitFor();
  });

  it("change while the page asks whether to delete the Item is not deleted with it", async () => {
    const { page, patch } = await openItem([login("Kept")]);
    expectProblem(page, /412/);
    await choose(page, "Delete…");
    await patch({ "/title": "Theirs" });
    await page.locator("article h1", { hasText: "Theirs" }).waitFor();
    await confirm(page, "Delete");
    await see(page, "Someone else changed this item.");
    await listed(page, "Theirs").waitFor();
  });
});

describe("the page loads", () => {
  it("the Items that it has missed while it was hidden when it is shown again, and no list", async () => {
    const { page, vault, token } = await openList([login("Before")], { fresh: true });
    // The first may be in the list that is loaded when the stream opens; the second is loaded alone.
    for (const title of ["First seen", "Later seen"]) await arrive(page, token, vault, title);
    const lists = recordLists(page);
    await setHidden(page, true);
    await makeItems(token, vault, [login("Missed")]);
    expect(await listed(page, "Missed").count()).toBe(0);
    await setHidden(page, false);
    await listed(page, "Missed").waitFor();
    expect(lists).toEqual([]);
  });

  it("no list again for a write of its own right after it has loaded the lists", async () => {
    let listsLoaded: Promise<unknown> = Promise.resolve();
    const { page, vault, token } = await openItem([login("Own")], {
      before(opened) {
        // When the stream has opened, the page asks once more which vaults have changed.
        listsLoaded = opened.waitForResponse("**/v1/events?*").then(() => opened.waitForResponse("**/v1/vaults"));
      },
    });
    await listsLoaded;
    const lists = recordLists(page);
    await press(page, "Favorite");
    await see(page, "Added to favorites");
    await arrive(page, token, vault, "Arrives");
    expect(lists).toEqual([]);
  });

  it("for a write of another client its Item alone, and no list that is shown already for a stream that opens again", async () => {
    const requests: string[] = [];
    const { page, vault, token, items, remove } = await openList([login("First"), login("Second")], {
      before: (opened) =>
        opened.on("requestfinished", (request) => {
          const { pathname, searchParams } = new URL(request.url());
          if (/\/v1\/vaults(\/[^/]+\/items)?$/.test(pathname))
            requests.push(`${pathname.replace(/[\w-]{36}/, "v")} ${searchParams.get("filter") ?? ""}`);
        }),
    });
    await expect.poll(() => requests.length).toBe(3); // the vaults and their lists, and the vaults when the stream opens
    const made = await arrive(page, token, vault, "Third");
    await remove();
    await gone(page, "First");
    expect(requests.slice(3)).toEqual([`/v1/vaults/v/items id eq "${made}"`, `/v1/vaults/v/items id eq "${items[0]}"`]);
    for (const hidden of [true, false]) await setHidden(page, hidden);
    await arrive(page, token, vault, "Fourth");
    expect(requests.slice(5)).not.toContain("/v1/vaults/v/items ");
  });

  it("all lists from the newest write on when the service does not have its position any more", async () => {
    let requests = 0;
    const { page, vault, token } = await openList([login("Before")], {
      async before(opened) {
        await opened.route("**/v1/events*", (route) => {
          requests++;
          if (requests === 1) return route.fulfill({ headers: { "Content-Type": "text/event-stream" }, body: "id: old\n\n" });
          if (requests > 2) return route.continue();
          const headers = { "Item-Vault-Error": "cursor_gone" };
          return route.fulfill({ status: 410, headers, json: { status: 410, message: "The cursor is gone" } });
        });
        // As the list was before the database was restored, at the same number of writes.
        await opened.route("**/v1/vaults/*/items?*", (route) => route.fulfill({ json: [] }), { times: 1 });
      },
    });
    await expect.poll(() => requests).toBe(3);
    await arrive(page, token, vault, "Arrives");
  });
});

describe("of two answers the page shows the newer one:", () => {
  it("a list from before a write of the page does not take the place of a newer one", async () => {
    const { page, vault, token } = await openItem([login("Own")]);
    await listed(page, "Own").waitFor();
    const list = await injectFault(page, "GET", LISTS, "late");
    await makeItems(token, vault, [login("Arrives")]);
    await list.answered;
    await press(page, "More actions", "Archive");
    await toast(page, "Archived").waitFor();
    list.end();
    await listed(page, "Arrives").waitFor();
    expect(await listed(page, "Own").count()).toBe(0);
  });

  it("an Item that the page has deleted does not come back with a list from before, not even for a moment", async () => {
    const { page, vault, token } = await openItem([login("Own"), login("Other")]);
    await listed(page, "Own").waitFor();
    const write = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "late");
    const list = await injectFault(page, "GET", LISTS, "late");
    await press(page, "Favorite");
    // The event of the write arrives before its answer, so the page loads the Item.
    await list.answered;
    write.end();
    await see(page, "Added to favorites");
    await choose(page, "Delete…");
    await confirm(page, "Delete");
    await gone(page, "Own");
    await page.evaluate(
      `new MutationObserver(() => document.querySelector(".rows").textContent.includes("Own") && (document.title = "returned"))
        .observe(document.body, { childList: true, characterData: true, subtree: true })`,
    );
    list.end();
    await arrive(page, token, vault, "Arrives");
    expect(await page.title()).not.toBe("returned");
  });

  it("a late answer to a write does not take the place of what somebody else has written since", async () => {
    const { page, patch } = await openItem([login("Own")]);
    await listed(page, "Own").waitFor();
    const write = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "late");
    await press(page, "Favorite");
    await write.answered;
    await patch({ "/title": "Theirs" });
    await listed(page, "Theirs").waitFor();
    write.end();
    await see(page, "Added to favorites");
    expect(await listed(page, "Own").count()).toBe(0);
  });

  it("an open Item that an older list does not have stays as it is shown", async () => {
    const { page, vault, path } = await openItem([login("Open"), login("Changes")]);
    await listed(page, "Changes").waitFor();
    await page.evaluate("document.querySelector('article').marked = true");
    await page.route("**/v1/vaults/*/items?*", (route) => route.fulfill({ json: [] }));
    const checked = page.waitForResponse(`**/${path}`);
    // A write to the vault itself loads the list.
    await admin("PATCH", `vaults/${vault}`, { name: "Renamed" });
    await checked;
    await gone(page, "Changes");
    expect(await page.evaluate("document.querySelector('article')?.marked")).toBe(true);
  });

  it("an Item that is deleted while it is being loaded does not come back", async () => {
    const { page, vault, token } = await openList([login("Before")]);
    const list = await injectFault(page, "GET", LISTS, "late");
    const [item] = await makeItems(token, vault, [login("Gone")]);
    await list.answered;
    await sendRequest("DELETE", `v1/vaults/${vault}/items/${item}`, token);
    await makeItems(token, vault, [login("Later")]);
    await new Promise((resolve) => setTimeout(resolve, 300)); // the events arrive, and nothing in the page tells
    list.end();
    await listed(page, "Later").waitFor();
    expect(await listed(page, "Gone").count()).toBe(0);
  });

  it("a foreign write that is being loaded while this page writes appears", async () => {
    const { page, vault, token } = await openItem([login("Own")]);
    await listed(page, "Own").waitFor();
    const list = await injectFault(page, "GET", LISTS, "network");
    allowProblem(page, /ERR_CONNECTION_FAILED/);
    await makeItems(token, vault, [login("Foreign")]);
    await expect.poll(() => list.requests.length).toBeGreaterThan(0);
    await press(page, "Favorite");
    await see(page, "Added to favorites");
    list.end();
    await arrive(page, token, vault, "Third");
    await listed(page, "Foreign").waitFor();
  });
});
