import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { admin, makeToken, sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility, checkLooks } from "./support/accessibility.ts";
import { injectFault } from "./support/faults.ts";
import { openPage, type PageOptions } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** Versions and deleted Items in the console. */

interface Item {
  readonly id: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly version: number;
  readonly fields: readonly { readonly id: string; readonly value: string }[];
}

const MARKUP = "<img src=x onerror=alert(1)>";

/** A vault with one Item of two versions, and a page with a session that has the permissions. */
async function openChanged(permission: "rw" | "rwd" | "r" = "rwd", options: PageOptions = {}) {
  const { vault, token, items } = await seed([login("Old title", { password: "old-secret" })], { permission: "rwd" });
  const path = `v1/vaults/${vault}/items/${items[0]}`;
  await sendRequest("PATCH", path, token, [
    { op: "replace", path: "/title", value: MARKUP },
    { op: "replace", path: "/fields/password/value", value: "new-secret" },
    { op: "add", path: "/tags/-", value: "prod" },
  ]);
  const page = await openPage({ token: (await makeToken({ [vault]: permission }, "uuid")).token, ...options });
  const load = async () => (await sendRequest("GET", path, token)) as Item;
  return { page, vault, token, path, id: items[0]!, load, goto: () => page.goto(`/console/#/items/${vault}/${items[0]}`) };
}

const chooseVersion = async (page: Page, number: number) => {
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByRole("button", { name: `Version ${number}` }).click();
};
const valueOf = (item: Item, id: string) => item.fields.find((field) => field.id === id)?.value;
const text = (page: Page) => page.locator("body").innerText();
const html = (page: Page) => page.evaluate<string>("document.documentElement.outerHTML");

describe("the versions of an Item", () => {
  it("are compared with the current one, whose secrets are hidden, and restored", async () => {
    const { page, goto, load, path, token } = await openChanged("rwd", { fresh: true });
    const file = (await sendRequest("POST", `${path}/files?name=k`, token, new Uint8Array([1]))) as { id: string };
    await sendRequest("PUT", `${path}/files/${file.id}/content`, token, new Uint8Array([2]));
    await page.clock.install();
    await goto();
    await chooseVersion(page, 3);
    const row = (name: string) => page.getByRole("row", { name });
    await row("Content of k").waitFor();
    expect(await page.getByRole("row").count()).toBe(2); // with the row of headings
    await page.getByRole("button", { name: "Version 1" }).click();
    await row("Title").waitFor();
    expect(await row("Title").getByRole("cell").allInnerTexts()).toEqual(["Old title", MARKUP]);
    expect(await row("Tag").getByRole("cell").allInnerTexts()).toEqual(["none", "prod"]);
    expect(await html(page)).not.toMatch(/old-secret|new-secret/);
    expect(await checkAccessibility(page)).toBe("");
    await page.getByRole("button", { name: "Reveal password" }).click();
    expect(await row("password").getByRole("cell").allInnerTexts()).toEqual(["old-secret", "new-secret"]);
    await page.clock.runFor(31_000); // in steps: the timer of the 30 seconds begins with a frame after the text is shown
    await expect.poll(() => html(page)).not.toMatch(/old-secret|new-secret/);
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByRole("heading", { name: "Old title" }).waitFor();
    expect(await html(page)).not.toMatch(/old-secret|new-secret/);
    const restored = await load();
    expect([restored.version, restored.title, valueOf(restored, "password")]).toEqual([5, "Old title", "old-secret"]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".toast", { hasText: "Undone" }).waitFor();
    expect(valueOf(await load(), "password")).toBe("new-secret");
  });

  it("give back one field or attribute alone, which is undone by its message", async () => {
    const { page, goto, load } = await openChanged();
    await goto();
    await chooseVersion(page, 1);
    await page.getByRole("button", { name: "Restore password" }).click();
    await page.getByText("password restored from version 1").waitFor();
    const restored = await load();
    expect([restored.title, valueOf(restored, "password"), restored.tags]).toEqual([MARKUP, "old-secret", ["prod"]]);
    expect(await html(page)).not.toMatch(/old-secret|new-secret/);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".toast", { hasText: "Undone" }).waitFor();
    expect(valueOf(await load(), "password")).toBe("new-secret");
    await page.getByRole("button", { name: "Restore Tag" }).click();
    await page.getByText("Tag restored from version 1").waitFor();
    expect((await load()).tags).toEqual([]);
  });

  it("that somebody else has changed are loaded again before a restore", async () => {
    const { page, goto, path, token, load } = await openChanged();
    await goto();
    await chooseVersion(page, 1);
    await page.getByRole("row", { name: "Title" }).waitFor();
    await sendRequest("PATCH", path, token, [{ op: "replace", path: "/title", value: "Theirs" }]);
    expectProblem(page, /412/);
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByText("Someone else changed this item").waitFor();
    expect((await load()).title).toBe("Theirs");
    await page.getByRole("heading", { name: "Theirs", exact: true }).waitFor();
    await page.getByRole("row", { name: "Title Old title Theirs" }).waitFor();
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await expect.poll(async () => (await load()).title).toBe("Old title");
  });

  it("can be destroyed after a second step, by those who may", async () => {
    const { page, goto, path, token } = await openChanged();
    await goto();
    await chooseVersion(page, 1);
    await page.getByRole("button", { name: "Delete permanently…" }).click();
    expect(await page.getByRole("dialog").innerText()).toContain(MARKUP);
    expect(await checkAccessibility(page)).toBe("");
    await page.keyboard.press("Enter"); // The focus is on Cancel.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Delete permanently…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete permanently" }).click();
    await page.getByText("No earlier version is kept.").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("History");
    expect(await sendRequest("GET", `${path}/versions`, token)).toHaveLength(1);
  });

  it("come page after page, and are only read with r, on a phone in the dark", async () => {
    const { page, goto } = await openChanged("r", { width: 390, height: 780, colorScheme: "dark" });
    await page.route(/\/versions$/, (route) => route.continue({ url: `${route.request().url()}?limit=1` }));
    await goto();
    await page.getByText(/^Changed .* by test, created/).waitFor();
    expect(await page.getByRole("button", { name: "More actions", exact: true }).count()).toBe(0);
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByText("Version 2").waitFor();
    expect(await page.getByText("Version 1").count()).toBe(0);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("button", { name: "Version 1" }).click();
    await page.getByRole("row", { name: "Title" }).waitFor();
    expect(await page.getByRole("button", { name: /Restore|Delete/ }).count()).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    expect(await checkAccessibility(page, "look")).toBe("");
  });
});

/** The requests of a page for the values of single versions, as the numbers of the versions. */
function readVersions(page: Page): number[] {
  const numbers: number[] = [];
  page.on("request", (request) => {
    const [, number] = /\/versions\/(\d+)$/.exec(new URL(request.url()).pathname) ?? [];
    if (number !== undefined) numbers.push(Number(number));
  });
  return numbers;
}

/** What the list says of each version, newest first. */
const wordsOf = (page: Page) => page.locator(".versions .words").allInnerTexts();
const showChanges = (page: Page) => page.getByRole("button", { name: "Show what changed" });
const setTitle = (value: string) => [{ op: "replace", path: "/title", value }];

describe("the list of versions", () => {
  it("tells what changed in each only when it is asked to, and shows no value", async () => {
    const { page, goto, path, token } = await openChanged("r", { fresh: true });
    const file = (await sendRequest("POST", `${path}/files?name=k`, token, new Uint8Array([1]))) as { id: string };
    await sendRequest("PUT", `${path}/files/${file.id}/content`, token, new Uint8Array([2]));
    await sendRequest("POST", `${path}/archive`, token);
    await goto();
    const read = readVersions(page);
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByRole("button", { name: "Version 1" }).waitFor();
    expect(await checkLooks(page)).toBe("");
    expect(read).toEqual([]);
    await showChanges(page).click();
    await expect
      .poll(() => wordsOf(page))
      .toEqual([
        "Archived.",
        "Changed: Content of k.",
        "Changed: file added.",
        "Changed: Title, password, tag added.",
        "Created.",
      ]);
    // The current one is there already.
    expect(read.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4]);
    expect(await html(page)).not.toMatch(/old-secret|new-secret/);
    expect(await showChanges(page).count()).toBe(0);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("History");
    expect(await checkLooks(page)).toBe("");
  });

  it("says which version is damaged or destroyed, and tells what changed in the others beside it", async () => {
    const { page, goto, path, token } = await openChanged();
    for (const title of ["Three", "Four", "Five", "Six"]) await sendRequest("PATCH", path, token, setTitle(title));
    await injectFault(page, "GET", `/${path}/versions/5`, { status: 500, kind: "integrity" });
    for (const status of [/500/, /404/]) expectProblem(page, status);
    await goto();
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByRole("button", { name: "Version 1" }).waitFor();
    await sendRequest("DELETE", `${path}/versions/3`, token);
    await showChanges(page).click();
    await expect
      .poll(() => wordsOf(page))
      .toEqual([
        "Changed since version 4: Title.",
        "This version is damaged: its changes are unknown.",
        "Changed since version 2: Title.",
        "This version was destroyed.",
        "Changed: Title, password, tag added.",
        "Created.",
      ]);
  });

  it("reads four versions at a time, keeps what it has told when a read fails, and goes on", async () => {
    const { page, goto, path, token } = await openChanged();
    for (let index = 3; index <= 9; index++) await sendRequest("PATCH", path, token, setTitle(`Title ${index}`));
    await goto();
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByRole("button", { name: "Version 1" }).waitFor();
    const held = await injectFault(page, "GET", `/${path}/versions/*`, "held");
    const lost = await injectFault(page, "GET", `/${path}/versions/3`, "network");
    expectProblem(page, /ERR_CONNECTION_FAILED/);
    await showChanges(page).click();
    // The first of the four is the current one.
    await expect.poll(() => held.requests.length).toBe(3);
    held.end();
    await page.getByText("The service did not answer.").waitFor({ timeout: 120_000 });
    expect(await wordsOf(page)).toEqual(Array.from({ length: 3 }, () => "Changed: Title."));
    lost.end();
    await page.getByRole("button", { name: "Try again" }).click();
    await expect.poll(async () => (await wordsOf(page)).length).toBe(9);
  });

  it("tells of what is written later, and of a further page, when it is asked again", async () => {
    const { page, goto, path, token } = await openChanged();
    await page.route(/\/versions$/, (route) => route.continue({ url: `${route.request().url()}?limit=1` }));
    await goto();
    await page.getByRole("tab", { name: "History" }).click();
    await page.getByRole("button", { name: "Show more" }).click();
    await showChanges(page).click();
    await expect.poll(() => wordsOf(page)).toEqual(["Changed: Title, password, tag added.", "Created."]);
    await page.unroute(/\/versions$/);
    const read = readVersions(page);
    await sendRequest("PATCH", path, token, setTitle("Later"));
    await page.getByText("Version 3").waitFor();
    await showChanges(page).click();
    await expect.poll(() => wordsOf(page)).toEqual(["Changed: Title.", "Changed: Title, password, tag added.", "Created."]);
    expect(read).toEqual([2]);
  });
});

/** A vault with two deleted Items, the second with a File. */
async function openDeleted(permission: "rw" | "rwd" = "rwd", options: PageOptions = {}) {
  const seeded = await seed([login("First"), login("Second", { password: "kept-secret" })], { permission: "rwd" });
  const { vault, token, items } = seeded;
  const bytes = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);
  await sendRequest("POST", `v1/vaults/${vault}/items/${items[1]}/files?name=key.bin`, token, bytes);
  for (const item of items) await sendRequest("DELETE", `v1/vaults/${vault}/items/${item}`, token);
  const page = await openPage({ token: (await makeToken({ [vault]: permission }, "uuid")).token, ...options });
  await page.goto("/console/#/deleted");
  await page.locator(".rows").getByRole("link", { name: "First" }).waitFor();
  const count = async () => ((await sendRequest("GET", `v1/vaults/${vault}/deleted-items`, token)) as unknown[]).length;
  return { page, bytes, count, ...seeded };
}

describe("deleted Items", () => {
  it("are listed with the last one first, shown, restored, and destroyed after a second step that names them", async () => {
    const { page, count, bytes } = await openDeleted();
    const titles = page.getByRole("list", { name: "Deleted items" }).locator(".title");
    await titles.first().waitFor();
    expect(await titles.allInnerTexts()).toEqual(["Second", "First"]);
    await page.locator(".rows").getByRole("link", { name: "Second" }).click();
    await page.getByRole("heading", { name: "Second" }).waitFor();
    expect(await html(page)).not.toContain("kept-secret");
    expect(await checkAccessibility(page)).toBe("");
    await page.getByRole("button", { name: "Reveal password" }).click();
    expect(await text(page)).toContain("kept-secret");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download key.bin" }).click(),
    ]);
    expect(new Uint8Array(await readFile(await download.path()))).toEqual(bytes);
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("list", { name: "Items" }).getByRole("link", { name: "Second" }).waitFor();
    await page.locator(".toast", { hasText: "Restored" }).waitFor();
    expect(await count()).toBe(1);
    await page.getByRole("link", { name: "Deleted items", exact: true }).click();
    await page.getByRole("link", { name: "First" }).click();
    await page.getByRole("button", { name: "Delete permanently…" }).click();
    expect(await page.getByRole("dialog").innerText()).toContain("First and its versions will be permanently deleted.");
    await page.getByRole("button", { name: "Delete permanently", exact: true }).click();
    await page.getByText("Permanently deleted").waitFor();
    await page.getByText("No deleted items.").waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Deleted items");
    expect(await count()).toBe(0);
  });

  it("cannot be destroyed without the permission, and fit a phone in the dark", async () => {
    const { page } = await openDeleted("rw", { width: 390, height: 780, colorScheme: "dark" });
    expect(await checkAccessibility(page, "look")).toBe("");
    await page.locator(".rows").getByRole("link", { name: "First" }).click();
    await page.getByRole("button", { name: "Restore" }).waitFor();
    expect(await page.getByRole("button", { name: "Delete permanently…" }).count()).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.getByRole("link", { name: "Deleted items" }).click();
    await page.locator(".rows").getByRole("link", { name: "Second" }).waitFor();
  });
});

/** Returns the number of requests of a page for names of actors. */
function countOfActors(page: Page): () => number {
  let count = 0;
  page.on("request", (request) => void (request.url().includes("/actors") && count++));
  return () => count;
}

describe("who has written", () => {
  it("is the session itself, or a token, which everybody sees by its name", async () => {
    const { vault, token, tokenId, items } = await seed([login("Mine")]);
    const other = (await makeToken({ [vault]: "r" }, "uuid")).token;
    const own = await openPage({ token });
    const stranger = await openPage({ token: other });
    const administrator = await openPage();
    await signIn(administrator, other, inject("secrets").ADMIN_TOKEN);
    for (const [name, page] of [
      ["you", own],
      ["test", administrator],
      ["test", stranger],
    ] as const) {
      await page.goto(`/console/#/items/${vault}/${items[0]}`);
      await page.getByText(` by ${name}, created`).waitFor();
      expect(await page.getByTitle(tokenId).innerText()).toBe(name);
    }
  });

  it("is named on each version and each deleted Item, also after the token was revoked, by one request", async () => {
    const { vault, token, tokenId, items } = await seed([login("Kept"), login("Gone")]);
    const path = `v1/vaults/${vault}/items/${items[0]}`;
    const other = await admin("POST", "tokens", { name: "\u202eevil <b>", vaults: { [vault]: "rw" } });
    await sendRequest("PATCH", path, other.token, [{ op: "replace", path: "/title", value: "Changed" }]);
    await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[1]}`, token);
    await admin("DELETE", `tokens/${tokenId}`);
    const reader = (await makeToken({ [vault]: "rw" }, "uuid")).token;
    const [page, direct] = [await openPage({ token: reader }), await openPage({ token: reader })];
    const asked = [page, direct].map(countOfActors);
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await page.getByText(/ by \[U\+202E\]evil <b>, created/).waitFor();
    await page.getByRole("tab", { name: "History" }).click();
    await expect.poll(() => page.getByTitle(tokenId).innerText()).toBe("test");
    for (const one of [page, direct]) {
      await one.goto("/console/#/deleted");
      await one.getByText(/ by test/).waitFor();
    }
    expect(asked.map((count) => count())).toEqual([1, 1]);
  });
});
