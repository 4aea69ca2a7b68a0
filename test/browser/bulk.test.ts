import { readFile } from "node:fs/promises";
import type { Download, Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { bitwarden } from "../../packages/transfer/src/formats/bitwarden.ts";
import { makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { confirm, dialogOf, heading, listed, openList, press, pressKeys, see, titleField } from "./support/console.ts";
import { injectFault } from "./support/faults.ts";
import { openPage, type PageOptions } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems } from "./support/seed.ts";

/** Acts on several Items at once: how they are selected, and that each Item is done or named. */

interface Summary {
  readonly id: string;
  readonly title: string;
  readonly favorite: boolean;
  readonly tags: readonly string[];
  readonly state?: string;
}

const summaries = async (token: string, vault: string): Promise<Summary[]> =>
  ((await sendRequest("GET", `v1/vaults/${vault}/items?archived=true`, token)) as Summary[]).toSorted((a, b) =>
    a.title < b.title ? -1 : 1,
  );
const titlesIn = async (token: string, vault: string) => (await summaries(token, vault)).map(({ title }) => title);
const archivedIn = async (token: string, vault: string) =>
  (await summaries(token, vault)).filter(({ state }) => state === "ARCHIVED").map(({ title }) => title);

/** Selects one Item after the other. */
const select = async (page: Page, ...titles: readonly string[]): Promise<void> => {
  for (const title of titles) await listed(page, title).locator(".tile").click();
};
/** Selects the Items from one to another. */
const selectRange = async (page: Page, from: string, to: string): Promise<void> => {
  await select(page, from);
  await listed(page, to).click({ modifiers: ["Shift"] });
};
const selected = (page: Page) => page.locator(".rows a.selected .title").allInnerTexts();
const bar = (page: Page) => page.getByRole("region", { name: "Selected items" });
const more = (page: Page, name: string) => press(page, "More actions for the selected items", name);
const move = async (page: Page) => {
  await press(bar(page), "Move…");
  await confirm(page, "Move");
};
const tag = async (page: Page) => {
  await press(bar(page), "Tag…");
  await dialogOf(page).getByLabel("Tag").fill("new");
  await confirm(page, "Add tag");
};
const remove = async (page: Page) => {
  await more(page, "Delete…");
  await confirm(page, "Delete");
};

/** Two vaults, the first with Items whose titles are given. */
async function openBulk(titles: readonly string[], options: PageOptions = {}) {
  const [vault, other] = [await makeVault("From"), await makeVault("To")];
  const { token } = await makeToken({ [vault]: "rw", [other]: "rw" }, "uuid");
  const items = await makeItems(
    token,
    vault,
    titles.map((title) => ({ ...login(title), tags: ["kept"] })),
  );
  const page = await openPage({ token, ...options });
  await page.goto("/console/");
  await listed(page, titles[0]).waitFor();
  return { page, token, vault, other, items };
}

const LETTERS = ["Alpha", "Bravo", "Charlie", "Delta", "Echo"];

describe("Items are selected", () => {
  it("by a click on their tile, with Ctrl, and with Shift from the last one, and by no other click", async () => {
    const { page } = await openBulk(LETTERS);
    await selectRange(page, "Bravo", "Delta");
    expect(await selected(page)).toEqual(["Bravo", "Charlie", "Delta"]);
    await listed(page, "Charlie").click({ modifiers: ["Control"] });
    expect(await selected(page)).toEqual(["Bravo", "Delta"]);
    await see(bar(page), "2 items selected");
    expect(page.url()).not.toContain("/items/");
    await listed(page, "Echo").click();
    await heading(page, "Echo").waitFor();
    expect(await selected(page)).toEqual(["Bravo", "Delta"]);
  });

  it("by the keys X and Ctrl+A, until Escape", async () => {
    const { page } = await openBulk(LETTERS);
    await pressKeys(page, "ArrowDown", "ArrowDown", "x", "ArrowDown", "x");
    expect(await selected(page)).toEqual(["Bravo", "Charlie"]);
    await page.keyboard.press("Control+a");
    expect(await selected(page)).toEqual(LETTERS);
    await page.keyboard.press("Escape");
    expect(await selected(page)).toEqual([]);
  });

  it("still after Escape in a dialog of the selected Items", async () => {
    const { page } = await openBulk(LETTERS);
    await select(page, "Bravo");
    await press(bar(page), "Tag…");
    await dialogOf(page).waitFor();
    await page.keyboard.press("Escape");
    await dialogOf(page).waitFor({ state: "detached" });
    expect(await selected(page)).toEqual(["Bravo"]);
  });

  it("by a long press on a phone, and then by taps", async () => {
    const { page } = await openBulk(LETTERS, { width: 390, height: 780, context: { hasTouch: true, isMobile: true } });
    const box = (await listed(page, "Bravo").boundingBox())!;
    const devtools = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchEnd") =>
      devtools.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: type === "touchStart" ? [{ x: box.x + 120, y: box.y + 20 }] : [],
      });
    await touch("touchStart");
    await expect.poll(() => selected(page)).toEqual(["Bravo"]);
    await touch("touchEnd");
    await listed(page, "Delta").tap();
    await expect.poll(() => selected(page)).toEqual(["Bravo", "Delta"]);
    expect(await checkLooks(page)).toBe("");
  });

  it("no longer when the list shows others", async () => {
    const { page } = await openBulk(LETTERS);
    await select(page, "Bravo");
    for (const text of ["alp", ""]) await page.getByRole("searchbox").fill(text);
    await listed(page, "Bravo").waitFor();
    expect(await selected(page)).toEqual([]);
    expect(await bar(page).count()).toBe(0);
  });
});

type StateOf = (item: Summary) => unknown;
/** Each act: what is pressed, what the message says, and what each of the Items is then, if it is still in the vault. */
const ACTS: readonly (readonly [string, (page: Page) => Promise<void>, string, StateOf, unknown])[] = [
  ["favorites", (page) => more(page, "Add to favorites"), "added to favorites", ({ favorite }) => favorite, true],
  ["archive", (page) => more(page, "Archive"), "archived", ({ state }) => state, "ARCHIVED"],
  ["tag", tag, "tagged", ({ tags }) => tags, ["kept", "new"]],
  ["deletion", remove, "deleted", ({ title }) => title, undefined],
  ["move", move, "moved", ({ title }) => title, undefined],
];

describe("an act on several Items", () => {
  it.each(ACTS)("is done to each and undone by its message: %s", async (name, act, message, stateOf, after) => {
    const { page, token, vault, other } = await openBulk(LETTERS.slice(0, 3));
    const states = async () => (await summaries(token, vault)).map(stateOf);
    const before = await states();
    await selectRange(page, "Alpha", "Charlie");
    await act(page);
    await see(page, `3 items ${message}`);
    expect(await states()).toEqual(after === undefined ? [] : [after, after, after]);
    expect(await titlesIn(token, other)).toEqual(name === "move" ? LETTERS.slice(0, 3) : []);
    expect(await bar(page).count()).toBe(0);
    await press(page, "Undo");
    await see(page, "3 items undone");
    expect([await states(), await titlesIn(token, other)]).toEqual([before, []]);
  });

  it("names each Item that is not done in an outage, and goes on with those", async () => {
    const { page, token, vault, items } = await openBulk(LETTERS);
    expectProblem(page, /503/);
    const fault = await injectFault(page, "POST", `/v1/vaults/*/items/${items[2]}/archive`, { status: 503, kind: "unavailable" });
    await selectRange(page, "Alpha", "Echo");
    await more(page, "Archive");
    const report = dialogOf(page);
    await see(report, /archived\. 1 failed/);
    const named = await report.getByRole("listitem").locator("strong").allInnerTexts();
    expect([...named, ...(await archivedIn(token, vault))].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(LETTERS);
    expect(named).toContain("Charlie");
    expect(await checkLooks(page)).toBe("");
    fault.end();
    await confirm(page, /^Retry/);
    await see(page, "5 items archived");
    expect(await archivedIn(token, vault)).toEqual(LETTERS);
  });

  it("stops when it is told to, and names what it has not tried", async () => {
    const { page, token, vault } = await openBulk(LETTERS);
    const held = await injectFault(page, "DELETE", "/v1/vaults/*/items/*", "held");
    await selectRange(page, "Alpha", "Echo");
    await remove(page);
    await expect.poll(() => held.requests.length).toBe(4);
    await confirm(page, "Stop");
    held.end();
    await see(page, "4 items deleted. 0 failed, and 1 item not tried.");
    expect(await titlesIn(token, vault)).toEqual(["Echo"]);
    await confirm(page, "Done");
    await expect.poll(() => listed(page).locator(".title").allInnerTexts()).toEqual(["Echo"]);
  });

  it("names an Item that somebody else changes while it is moved, and leaves it where it was", async () => {
    const { page, token, vault, other, items } = await openBulk(LETTERS.slice(0, 2));
    expectProblem(page, /412/);
    const held = await injectFault(page, "DELETE", `/v1/vaults/*/items/${items[0]}`, "held");
    await select(page, "Alpha", "Bravo");
    await move(page);
    await expect.poll(() => held.requests.length).toBe(1);
    const change = [{ op: "replace", path: "/title", value: "Theirs" }];
    await sendRequest("PATCH", `v1/vaults/${vault}/items/${items[0]}`, token, change);
    held.end();
    await see(dialogOf(page), "it is now in both vaults");
    expect([await titlesIn(token, vault), await titlesIn(token, other)]).toEqual([["Theirs"], ["Alpha", "Bravo"]]);
  });
});

it("an Item whose copy got no answer is named as maybe copied, and the move goes on with the copy that is made later", async () => {
  const { page, token, vault, other } = await openBulk(LETTERS.slice(0, 1));
  for (const status of [/503/, /404/]) expectProblem(page, status); // 404 of the deletion of the copy
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith(`/${other}/items`));
  const fault = await injectFault(page, "POST", `/v1/vaults/${other}/items`, { status: 503, kind: "unavailable" });
  await select(page, "Alpha");
  await move(page);
  const late = await asked;
  await see(dialogOf(page), "An incomplete copy may remain in the other vault.");
  const made = await fetch(new URL(`v1/vaults/${other}/items`, inject("url")), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Item-Id": (await late.headerValue("Item-Id"))! },
    body: late.postData()!,
  });
  expect(made.status).toBe(200);
  fault.end();
  expectProblem(page, /409/);
  await confirm(page, /^Retry/);
  await see(page, "1 item moved");
  expect([await titlesIn(token, vault), await titlesIn(token, other)]).toEqual([[], ["Alpha"]]);
});

it("an act beside a form with what was typed leaves the form, which still asks before it is left", async () => {
  const { page, vault, items } = await openBulk(LETTERS);
  await page.goto(`/console/#/items/${vault}/${items[0]}/edit`);
  await titleField(page).fill("Typed");
  await select(page, "Bravo", "Charlie");
  await more(page, "Add to favorites");
  await see(page, "2 items added to favorites");
  await listed(page, "Delta").click();
  await confirm(page, "Keep editing");
  expect(await titleField(page).inputValue()).toBe("Typed");
});

it("an act that is left by the Back button stops, after it has asked", async () => {
  const { page, token, vault, items } = await openBulk(LETTERS);
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await heading(page, "Alpha").waitFor();
  const held = await injectFault(page, "POST", "/v1/vaults/*/items/*/archive", "held");
  await selectRange(page, "Alpha", "Echo");
  await more(page, "Archive");
  await expect.poll(() => held.requests.length).toBe(4);
  await page.goBack();
  await press(dialogOf(page, "Stop?"), "Stop");
  held.end();
  await see(page, /archived\. 0 failed, and 1 item not tried/);
  expect((await archivedIn(token, vault)).length).toBe(4);
});

it("an Item that leaves the list is selected no more, and no act reaches it", async () => {
  const { page, token, vault, items } = await openBulk(LETTERS);
  await select(page, "Alpha", "Bravo");
  await sendRequest("POST", `v1/vaults/${vault}/items/${items[0]}/archive`, token);
  await see(bar(page), "1 item selected");
  await remove(page);
  await see(page, "1 item deleted");
  expect(await titlesIn(token, vault)).toEqual(["Alpha", "Charlie", "Delta", "Echo"]);
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("Charlie");
});

it("a tag is added once when the answer is lost, and the act goes on", async () => {
  const { page, token, vault } = await openBulk(LETTERS.slice(0, 1));
  expectProblem(page, /ERR_CONNECTION_RESET/);
  const fault = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "lost");
  await select(page, "Alpha");
  await tag(page);
  await see(dialogOf(page), "1 failed");
  fault.end();
  await confirm(page, /^Retry/);
  await see(page, "1 item tagged");
  expect((await summaries(token, vault))[0]!.tags).toEqual(["kept", "new"]);
});

it("Items of a vault that may only be read are selected, and nothing is offered that would be refused", async () => {
  const { page } = await openList([login("Alpha")], { permission: "r" });
  await select(page, "Alpha");
  expect(await bar(page).getByRole("button").allInnerTexts()).toEqual(["", "×"]);
  await press(bar(page), /^More actions/);
  expect(await page.locator(":popover-open button").allInnerTexts()).toEqual(["Export…", "Select all"]);
});

const PASSWORD = "correct horse battery";

/** Asks for the export of the selected Items under a password. */
async function exportSelected(page: Page, password = PASSWORD, again = password): Promise<void> {
  if ((await dialogOf(page).count()) === 0) await more(page, "Export…");
  await page.getByLabel("Password of the file").fill(password);
  await page.getByLabel("Repeat the password").fill(again);
  await confirm(page, "Export");
}

const textOf = async (download: Download): Promise<string> => readFile(await download.path(), "utf8");

/** The Items of a file, as an import of Item Vault reads them. */
const importedFrom = async (download: Download, password: string) => {
  const bytes = new TextEncoder().encode(await textOf(download));
  expect(bitwarden.matches(bytes, download.suggestedFilename())).toBe(true);
  return (await bitwarden.read(bytes, { fileName: download.suggestedFilename(), password: async () => password })).items;
};

describe("selected Items are exported", () => {
  it("to a file that the page encrypts, and that an import reads with the password alone", async () => {
    const vault = await makeVault("Exported");
    const { token } = await makeToken({ [vault]: "rw" }, "uuid");
    const items = [
      login("Alpha \u202e<b>", { password: "päss \u{1f511} word", url: "https://a.example/" }),
      { ...login("Bravo"), favorite: true, tags: ["kept"] },
      login("Charlie"),
    ];
    const ids = await makeItems(token, vault, items);
    const page = await openPage({ token });
    await page.goto("/console/");
    await select(page, "Alpha", "Bravo");
    const sent: string[] = [];
    page.on("request", (request) => request.method() !== "GET" && sent.push(request.url()));
    const saving = page.waitForEvent("download");
    await exportSelected(page);
    const download = await saving;
    await see(page, "2 items exported");
    expect(sent).toEqual([]);
    expect(download.suggestedFilename()).toMatch(/^item-vault-\d{4}-\d\d-\d\d\.json$/);
    for (const text of ["Alpha", "Bravo", "päss", "correct horse", PASSWORD]) expect(await textOf(download)).not.toContain(text);
    const imported = await importedFrom(download, PASSWORD);
    expect(imported.map(({ sourceId }) => sourceId)).toEqual(ids.slice(0, 2));
    for (const [index, { title, favorite, tags, urls, fields }] of imported.entries()) {
      const { urls: hrefs, fields: values, ...given } = items[index] as any;
      expect({ title, favorite, tags }).toEqual({ favorite: false, tags: [], ...given });
      expect(urls.map(({ href }) => href)).toEqual(hrefs.map(({ href }: { href: string }) => href));
      expect(fields).toMatchObject(values);
    }
    await expect(importedFrom(download, "another password")).rejects.toThrow("The password is wrong");
  });

  it("under a password that was typed twice and has 12 characters", async () => {
    const { page } = await openBulk(LETTERS.slice(0, 1));
    await select(page, "Alpha");
    await exportSelected(page, "short");
    await page.getByRole("alert").getByText("Use at least 12 characters.").waitFor();
    await exportSelected(page, PASSWORD, `${PASSWORD}s`);
    await page.getByRole("alert").getByText("The passwords differ.").waitFor();
    expect(await checkLooks(page)).toBe("");
  });

  it("without one that cannot be read only if the person saves the rest, and a file says what it lacks", async () => {
    const { page, token, vault } = await openBulk(LETTERS.slice(0, 2));
    const section = { id: "more", label: "More" };
    const fields = [{ label: "Serial", type: "STRING", value: "42", section: { id: "more" } }];
    const [id] = await makeItems(token, vault, [{ title: "Sectioned", sections: [section], fields }]);
    await select(page, "Sectioned", "Bravo", "Alpha");
    expectProblem(page, /500/);
    await injectFault(page, "GET", `/v1/vaults/${vault}/items/${id}`, { status: 500, kind: "integrity" });
    await exportSelected(page);
    await see(page, "2 items read. 1 failed, and 0 items not tried.");
    await confirm(page, "Discard");
    expect(await bar(page).count()).toBe(0);
    await select(page, "Alpha", "Sectioned");
    await exportSelected(page);
    let saving = page.waitForEvent("download");
    await confirm(page, "Save 1 item");
    expect((await importedFrom(await saving, PASSWORD)).map(({ title }) => title)).toEqual(["Alpha"]);
    await page.unrouteAll();
    await select(page, "Sectioned");
    saving = page.waitForEvent("download");
    await exportSelected(page);
    await dialogOf(page).getByText("sections of fields (1)").waitFor();
    expect((await importedFrom(await saving, PASSWORD))[0]!.fields).toMatchObject([{ label: "Serial", value: "42" }]);
    await confirm(page, "Done");
    expect(await bar(page).count()).toBe(0);
  });
});
