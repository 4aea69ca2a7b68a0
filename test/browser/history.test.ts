import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { admin, makeToken, sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility, checkLooks } from "./support/accessibility.ts";
import { confirm, dialogOf, heading, htmlOf, link, listed, press, see, shown, type Stored, toast } from "./support/console.ts";
import { injectFault } from "./support/faults.ts";
import { openPage, type PageOptions } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** Versions and deleted Items in the console. */

const MARKUP = "<img src=x onerror=alert(1)>";
const PHONE = { width: 390, height: 780, colorScheme: "dark" } as const;
const SECRETS = /old-secret|new-secret/;

/** A vault with one Item of two versions, and a page with a session that has the permissions. */
async function openChanged(permission: "rw" | "rwd" | "r" = "rwd", options: PageOptions = {}) {
  const seeded = await seed([login("Old title", { password: "old-secret" })], { permission: "rwd" });
  const page = await openPage({ token: (await makeToken({ [seeded.vault]: permission }, "uuid")).token, ...options });
  const opened = shown(page, seeded);
  await sendRequest("PATCH", opened.path, seeded.token, [
    { op: "replace", path: "/title", value: MARKUP },
    { op: "replace", path: "/fields/password/value", value: "new-secret" },
    { op: "add", path: "/tags/-", value: "prod" },
  ]);
  /** Adds a File, and replaces its content: two versions. */
  const addFile = async () => {
    const { id } = (await sendRequest("POST", `${opened.path}/files?name=k`, seeded.token, new Uint8Array([1]))) as Stored;
    await sendRequest("PUT", `${opened.path}/files/${id}/content`, seeded.token, new Uint8Array([2]));
  };
  const openHistory = async () => {
    await page.goto(`${opened.address}/history`);
    await page
      .getByRole("button", { name: /^Version \d/ })
      .first()
      .waitFor();
  };
  return { ...opened, addFile, openHistory };
}

const chooseVersion = (page: Page, number: number) => press(page, new RegExp(`^Version ${number}\\b`));
const rowOf = (page: Page, name: string) => page.getByRole("row", { name });
const cellsOf = (page: Page, name: string) => rowOf(page, name).getByRole("cell").allInnerTexts();
const passwordOf = ({ fields }: Stored) => fields.find(({ id }) => id === "password")?.value;
const undo = async (page: Page) => {
  await press(page, "Undo");
  await toast(page, "Undone").waitFor();
};

describe("the versions of an Item", () => {
  it("are compared with the current one, whose secrets are hidden, and restored", async () => {
    const { page, load, addFile, openHistory } = await openChanged("rwd", { fresh: true });
    await addFile();
    await page.clock.install();
    await openHistory();
    await chooseVersion(page, 3);
    await rowOf(page, "Content of k").waitFor();
    expect(await page.getByRole("row").count()).toBe(2); // with the row of headings
    await chooseVersion(page, 1);
    await rowOf(page, "Title").waitFor();
    expect(await cellsOf(page, "Title")).toEqual(["Old title", MARKUP]);
    expect(await cellsOf(page, "Tag")).toEqual(["none", "prod"]);
    expect(await htmlOf(page)).not.toMatch(SECRETS);
    expect(await checkAccessibility(page)).toBe("");
    await press(page, "Reveal password");
    expect(await cellsOf(page, "password")).toEqual(["old-secret", "new-secret"]);
    await page.clock.runFor(31_000); // in steps: the timer of the 30 seconds begins with a frame after the text is shown
    await expect.poll(() => htmlOf(page)).not.toMatch(SECRETS);
    await press(page, "Restore version 1");
    await heading(page, "Old title").waitFor();
    expect(await htmlOf(page)).not.toMatch(SECRETS);
    const restored = await load();
    expect([restored.version, restored.title, passwordOf(restored)]).toEqual([5, "Old title", "old-secret"]);
    await undo(page);
    expect(passwordOf(await load())).toBe("new-secret");
  });

  it("give back one field or attribute alone, which is undone by its message", async () => {
    const { page, load, openHistory } = await openChanged();
    await openHistory();
    await chooseVersion(page, 1);
    await press(page, "Restore password");
    await see(page, "password restored from version 1");
    const restored = await load();
    expect([restored.title, passwordOf(restored), restored.tags]).toEqual([MARKUP, "old-secret", ["prod"]]);
    expect(await htmlOf(page)).not.toMatch(SECRETS);
    await undo(page);
    expect(passwordOf(await load())).toBe("new-secret");
    await press(page, "Restore Tag");
    await see(page, "Tag restored from version 1");
    expect((await load()).tags).toEqual([]);
  });

  it("that somebody else has changed are loaded again before a restore", async () => {
    const { page, openHistory, patch, load } = await openChanged();
    await openHistory();
    await chooseVersion(page, 1);
    await rowOf(page, "Title").waitFor();
    await patch({ "/title": "Theirs" });
    expectProblem(page, /412/);
    await press(page, "Restore version 1");
    await see(page, "Someone else changed this item");
    expect((await load()).title).toBe("Theirs");
    await heading(page, "Theirs").waitFor();
    await rowOf(page, "Title Old title Theirs").waitFor();
    await press(page, "Restore version 1");
    await expect.poll(async () => (await load()).title).toBe("Old title");
  });

  it("can be destroyed after a second step, by those who may", async () => {
    const { page, openHistory, path, token } = await openChanged();
    await openHistory();
    await chooseVersion(page, 1);
    await press(page, "Delete permanently…");
    expect(await dialogOf(page).innerText()).toContain(MARKUP);
    expect(await checkAccessibility(page)).toBe("");
    await page.keyboard.press("Enter"); // The focus is on Cancel.
    await dialogOf(page).waitFor({ state: "detached" });
    await press(page, "Delete permanently…");
    await confirm(page, "Delete permanently");
    await see(page, "No earlier version is kept.");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("History");
    expect(await sendRequest("GET", `${path}/versions`, token)).toHaveLength(1);
  });

  it("come page after page, and are only read with r, on a phone in the dark", async () => {
    const { page, address } = await openChanged("r", PHONE);
    await page.route(/\/versions$/, (route) => route.continue({ url: `${route.request().url()}?limit=1` }));
    await page.goto(address);
    await see(page, /^Changed .* by test, created/);
    expect(await page.getByRole("button", { name: "More actions", exact: true }).count()).toBe(0);
    await page.getByRole("tab", { name: "History" }).click();
    await see(page, "Version 2");
    expect(await page.getByText("Version 1").count()).toBe(0);
    await press(page, "Show more");
    await chooseVersion(page, 1);
    await rowOf(page, "Title").waitFor();
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
const showChanges = (page: Page) => press(page, "Show what changed");

describe("the list of versions", () => {
  it("tells what changed in each only when it is asked to, and shows no value", async () => {
    const { page, openHistory, path, token, addFile } = await openChanged("r", { fresh: true });
    await addFile();
    await sendRequest("POST", `${path}/archive`, token);
    const read = readVersions(page);
    await openHistory();
    expect(await checkLooks(page)).toBe("");
    expect(read).toEqual([]);
    await showChanges(page);
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
    expect(await htmlOf(page)).not.toMatch(SECRETS);
    expect(await page.getByText("Show what changed").count()).toBe(0);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("History");
    expect(await checkLooks(page)).toBe("");
  });

  it("says which version is damaged or destroyed, and tells what changed in the others beside it", async () => {
    const { page, openHistory, path, token, patch } = await openChanged();
    for (const title of ["Three", "Four", "Five", "Six"]) await patch({ "/title": title });
    await injectFault(page, "GET", `/${path}/versions/5`, { status: 500, kind: "integrity" });
    for (const status of [/500/, /404/]) expectProblem(page, status);
    await openHistory();
    await sendRequest("DELETE", `${path}/versions/3`, token);
    await showChanges(page);
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
    const { page, openHistory, path, patch } = await openChanged();
    for (let index = 3; index <= 9; index++) await patch({ "/title": `Title ${index}` });
    await openHistory();
    const held = await injectFault(page, "GET", `/${path}/versions/*`, "held");
    const lost = await injectFault(page, "GET", `/${path}/versions/3`, "network");
    expectProblem(page, /ERR_CONNECTION_FAILED/);
    await showChanges(page);
    // The first of the four is the current one.
    await expect.poll(() => held.requests.length).toBe(3);
    held.end();
    await page.getByText("The service did not answer.").waitFor({ timeout: 120_000 });
    expect(await wordsOf(page)).toEqual(Array.from({ length: 3 }, () => "Changed: Title."));
    lost.end();
    await press(page, "Try again");
    await expect.poll(async () => (await wordsOf(page)).length).toBe(9);
  });

  it("tells of what is written later, and of a further page, when it is asked again", async () => {
    const { page, address, patch } = await openChanged();
    await page.route(/\/versions$/, (route) => route.continue({ url: `${route.request().url()}?limit=1` }));
    await page.goto(address);
    await page.getByRole("tab", { name: "History" }).click();
    await press(page, "Show more");
    await showChanges(page);
    await expect.poll(() => wordsOf(page)).toEqual(["Changed: Title, password, tag added.", "Created."]);
    await page.unroute(/\/versions$/);
    const read = readVersions(page);
    await patch({ "/title": "Later" });
    await see(page, "Version 3");
    await showChanges(page);
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
  await listed(page, "First").waitFor();
  const count = async () => ((await sendRequest("GET", `v1/vaults/${vault}/deleted-items`, token)) as unknown[]).length;
  return { page, bytes, count, ...seeded };
}

describe("deleted Items", () => {
  it("are listed with the last one first, shown, restored, and destroyed after a second step that names them", async () => {
    const { page, count, bytes } = await openDeleted();
    const titles = page.getByRole("list", { name: "Deleted items" }).locator(".title");
    expect(await titles.allInnerTexts()).toEqual(["Second", "First"]);
    await listed(page, "Second").click();
    await heading(page, "Second").waitFor();
    expect(await htmlOf(page)).not.toContain("kept-secret");
    expect(await checkAccessibility(page)).toBe("");
    await press(page, "Reveal password");
    await see(page, "kept-secret");
    const saving = page.waitForEvent("download");
    await press(page, "Download key.bin");
    expect(new Uint8Array(await readFile(await (await saving).path()))).toEqual(bytes);
    await press(page, "Restore");
    await page.getByRole("list", { name: "Items" }).getByRole("link", { name: "Second" }).waitFor();
    await toast(page, "Restored").waitFor();
    expect(await count()).toBe(1);
    await link(page, "Deleted items").click();
    await listed(page, "First").click();
    await press(page, "Delete permanently…");
    expect(await dialogOf(page).innerText()).toContain("First and its versions will be permanently deleted.");
    await confirm(page, "Delete permanently");
    await see(page, "Permanently deleted", "No deleted items.");
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Deleted items");
    expect(await count()).toBe(0);
  });

  it("cannot be destroyed without the permission, and fit a phone in the dark", async () => {
    const { page } = await openDeleted("rw", PHONE);
    expect(await checkAccessibility(page, "look")).toBe("");
    await listed(page, "First").click();
    await page.getByRole("button", { name: "Restore" }).waitFor();
    expect(await page.getByRole("button", { name: "Delete permanently…" }).count()).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.getByRole("link", { name: "Deleted items" }).click();
    await listed(page, "Second").waitFor();
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
