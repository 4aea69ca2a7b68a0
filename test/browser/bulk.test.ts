import { readFile } from "node:fs/promises";
import type { Download, Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { bitwarden } from "../../packages/transfer/src/formats/bitwarden.ts";
import { makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
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

const row = (page: Page, title: string) => page.getByRole("list", { name: "Items" }).getByRole("link").filter({ hasText: title });
const tile = (page: Page, title: string) => row(page, title).locator(".tile");
const selected = (page: Page) => page.locator(".rows a.selected .title").allInnerTexts();
const bar = (page: Page) => page.getByRole("region", { name: "Selected items" });

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
  await row(page, titles[0]!).waitFor();
  return { page, token, vault, other, items };
}

const LETTERS = ["Alpha", "Bravo", "Charlie", "Delta", "Echo"];

describe("Items are selected", () => {
  it("by a click on their tile, with Ctrl, and with Shift from the last one, and by no other click", async () => {
    const { page } = await openBulk(LETTERS);
    await tile(page, "Bravo").click();
    await row(page, "Delta").click({ modifiers: ["Shift"] });
    expect(await selected(page)).toEqual(["Bravo", "Charlie", "Delta"]);
    await row(page, "Charlie").click({ modifiers: ["Control"] });
    expect(await selected(page)).toEqual(["Bravo", "Delta"]);
    await bar(page).getByText("2 items selected").waitFor();
    expect(page.url()).not.toContain("/items/");
    await row(page, "Echo").click();
    await page.getByRole("heading", { name: "Echo" }).waitFor();
    expect(await selected(page)).toEqual(["Bravo", "Delta"]);
  });

  it("by the keys X and Ctrl+A, until Escape", async () => {
    const { page } = await openBulk(LETTERS);
    for (const key of ["ArrowDown", "ArrowDown", "x", "ArrowDown", "x"]) await page.keyboard.press(key);
    expect(await selected(page)).toEqual(["Bravo", "Charlie"]);
    await page.keyboard.press("Control+a");
    expect(await selected(page)).toEqual(LETTERS);
    await page.keyboard.press("Escape");
    expect(await selected(page)).toEqual([]);
  });

  it("by a long press on a phone, and then by taps", async () => {
    const { page } = await openBulk(LETTERS, { width: 390, height: 780, context: { hasTouch: true, isMobile: true } });
    const box = (await row(page, "Bravo").boundingBox())!;
    const devtools = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchEnd") =>
      devtools.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: type === "touchStart" ? [{ x: box.x + 120, y: box.y + 20 }] : [],
      });
    await touch("touchStart");
    await expect.poll(() => selected(page)).toEqual(["Bravo"]);
    await touch("touchEnd");
    await row(page, "Delta").tap();
    await expect.poll(() => selected(page)).toEqual(["Bravo", "Delta"]);
    expect(await checkLooks(page)).toBe("");
  });

  it("no longer when the list shows others", async () => {
    const { page } = await openBulk(LETTERS);
    await tile(page, "Bravo").click();
    await page.getByRole("searchbox").fill("alp");
    await page.getByRole("searchbox").fill("");
    await row(page, "Bravo").waitFor();
    expect(await selected(page)).toEqual([]);
    expect(await bar(page).count()).toBe(0);
  });
});

const more = async (page: Page, name: string): Promise<void> => {
  await bar(page).getByRole("button", { name: "More actions for the selected items" }).click();
  await page.getByRole("button", { name, exact: true }).click();
};
const confirm = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true }).click();

/** Each act: what is pressed, what the message says, and what the Items are then. */
const ACTS: Readonly<
  Record<string, { press: (page: Page) => Promise<void>; message: string; state: (items: Summary[]) => unknown; after: unknown }>
> = {
  favorites: {
    press: (page) => more(page, "Add to favorites"),
    message: "3 items added to favorites",
    state: (items) => items.map(({ favorite }) => favorite),
    after: [true, true, true],
  },
  archive: {
    press: (page) => more(page, "Archive"),
    message: "3 items archived",
    state: (items) => items.map(({ state }) => state),
    after: ["ARCHIVED", "ARCHIVED", "ARCHIVED"],
  },
  deletion: {
    press: async (page) => {
      await more(page, "Delete…");
      await confirm(page, "Delete");
    },
    message: "3 items deleted",
    state: (items) => items.length,
    after: 0,
  },
  tag: {
    press: async (page) => {
      await bar(page).getByRole("button", { name: "Tag…" }).click();
      await page.getByRole("dialog").getByLabel("Tag").fill("new");
      await confirm(page, "Add tag");
    },
    message: "3 items tagged",
    state: (items) => items.map(({ tags }) => tags),
    after: [
      ["kept", "new"],
      ["kept", "new"],
      ["kept", "new"],
    ],
  },
  move: {
    press: async (page) => {
      await bar(page).getByRole("button", { name: "Move…" }).click();
      await confirm(page, "Move");
    },
    message: "3 items moved",
    state: (items) => items.length,
    after: 0,
  },
};

describe("an act on several Items", () => {
  it.each(Object.entries(ACTS))(
    "is done to each and undone by its message: %s",
    async (name, { press, message, state, after }) => {
      const { page, token, vault, other } = await openBulk(LETTERS.slice(0, 3));
      const moved = name === "move" ? LETTERS.slice(0, 3) : [];
      const before = state(await summaries(token, vault));
      await tile(page, "Alpha").click();
      await row(page, "Charlie").click({ modifiers: ["Shift"] });
      await press(page);
      await page.getByText(message).waitFor();
      expect(state(await summaries(token, vault))).toEqual(after);
      expect((await summaries(token, other)).map(({ title }) => title)).toEqual(moved);
      expect(await bar(page).count()).toBe(0);
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("3 items undone").waitFor();
      expect([state(await summaries(token, vault)), await summaries(token, other)]).toEqual([before, []]);
    },
  );

  it("names each Item that is not done in an outage, and goes on with those", async () => {
    const { page, token, vault, items } = await openBulk(LETTERS);
    expectProblem(page, /503/);
    const fault = await injectFault(page, "POST", `/v1/vaults/*/items/${items[2]}/archive`, { status: 503, kind: "unavailable" });
    await tile(page, "Alpha").click();
    await row(page, "Echo").click({ modifiers: ["Shift"] });
    await more(page, "Archive");
    const report = page.getByRole("dialog");
    await report.getByText(/archived\. 1 failed/).waitFor({ timeout: 120_000 });
    const named = await report.getByRole("listitem").locator("strong").allInnerTexts();
    const archived = (await summaries(token, vault)).filter(({ state }) => state === "ARCHIVED").map(({ title }) => title);
    expect([...named, ...archived].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(LETTERS);
    expect(named).toContain("Charlie");
    expect(await checkLooks(page)).toBe("");
    fault.end();
    await report.getByRole("button", { name: /^Retry/ }).click();
    await page.getByText("5 items archived").waitFor();
    expect((await summaries(token, vault)).every(({ state }) => state === "ARCHIVED")).toBe(true);
  });

  it("stops when it is told to, and names what it has not tried", async () => {
    const { page, token, vault } = await openBulk(LETTERS);
    const held = await injectFault(page, "DELETE", "/v1/vaults/*/items/*", "held");
    await tile(page, "Alpha").click();
    await row(page, "Echo").click({ modifiers: ["Shift"] });
    await more(page, "Delete…");
    await confirm(page, "Delete");
    await expect.poll(() => held.requests.length).toBe(4);
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    held.end();
    await page.getByText("4 items deleted. 0 failed, and 1 item not tried.").waitFor();
    expect((await summaries(token, vault)).map(({ title }) => title)).toEqual(["Echo"]);
    await confirm(page, "Done");
    await row(page, "Echo").waitFor();
    await expect.poll(() => page.getByRole("list", { name: "Items" }).locator(".title").allInnerTexts()).toEqual(["Echo"]);
  });

  it("names an Item that somebody else changes while it is moved, and leaves it where it was", async () => {
    const { page, token, vault, other, items } = await openBulk(LETTERS.slice(0, 2));
    expectProblem(page, /412/);
    const held = await injectFault(page, "DELETE", `/v1/vaults/*/items/${items[0]}`, "held");
    await tile(page, "Alpha").click();
    await tile(page, "Bravo").click();
    await bar(page).getByRole("button", { name: "Move…" }).click();
    await confirm(page, "Move");
    await expect.poll(() => held.requests.length).toBe(1);
    await sendRequest("PATCH", `v1/vaults/${vault}/items/${items[0]}`, token, [
      { op: "replace", path: "/title", value: "Theirs" },
    ]);
    held.end();
    await page.getByRole("dialog").getByText("it is now in both vaults").waitFor();
    expect((await summaries(token, vault)).map(({ title }) => title)).toEqual(["Theirs"]);
    expect((await summaries(token, other)).map(({ title }) => title)).toEqual(["Alpha", "Bravo"]);
  });
});

it("an Item whose copy got no answer is named as maybe copied, and the move goes on with the copy that is made later", async () => {
  const { page, token, vault, other } = await openBulk(LETTERS.slice(0, 1));
  expectProblem(page, /503/);
  expectProblem(page, /404/); // of the deletion of the copy
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith(`/${other}/items`));
  const fault = await injectFault(page, "POST", `/v1/vaults/${other}/items`, { status: 503, kind: "unavailable" });
  await tile(page, "Alpha").click();
  await bar(page).getByRole("button", { name: "Move…" }).click();
  await confirm(page, "Move");
  const late = await asked;
  const report = page.getByRole("dialog");
  await report.getByText("An incomplete copy may remain in the other vault.").waitFor({ timeout: 120_000 });
  const made = await fetch(new URL(`v1/vaults/${other}/items`, inject("url")), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Item-Id": (await late.headerValue("Item-Id"))! },
    body: late.postData()!,
  });
  expect(made.status).toBe(200);
  fault.end();
  expectProblem(page, /409/);
  await report.getByRole("button", { name: /^Retry/ }).click();
  await page.getByText("1 item moved").waitFor();
  expect((await summaries(token, other)).map(({ title }) => title)).toEqual(["Alpha"]);
  expect(await summaries(token, vault)).toEqual([]);
});

it("an act beside a form with what was typed leaves the form, which still asks before it is left", async () => {
  const { page, vault, items } = await openBulk(LETTERS);
  await page.goto(`/console/#/items/${vault}/${items[0]}/edit`);
  await page.getByLabel("Title").fill("Typed");
  await tile(page, "Bravo").click();
  await tile(page, "Charlie").click();
  await more(page, "Add to favorites");
  await page.getByText("2 items added to favorites").waitFor();
  await row(page, "Delta").click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep editing" }).click();
  expect(await page.getByLabel("Title").inputValue()).toBe("Typed");
});

it("an act that is left by the Back button stops, after it has asked", async () => {
  const { page, token, vault, items } = await openBulk(LETTERS);
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("heading", { name: "Alpha" }).waitFor();
  const held = await injectFault(page, "POST", "/v1/vaults/*/items/*/archive", "held");
  await tile(page, "Alpha").click();
  await row(page, "Echo").click({ modifiers: ["Shift"] });
  await more(page, "Archive");
  await expect.poll(() => held.requests.length).toBe(4);
  await page.goBack();
  await page.getByRole("dialog", { name: "Stop?" }).getByRole("button", { name: "Stop" }).click();
  held.end();
  await page.getByText(/archived\. 0 failed, and 1 item not tried/).waitFor();
  expect((await summaries(token, vault)).filter(({ state }) => state === "ARCHIVED").length).toBe(4);
});

it("an Item that leaves the list is selected no more, and no act reaches it", async () => {
  const { page, token, vault, items } = await openBulk(LETTERS);
  await tile(page, "Alpha").click();
  await tile(page, "Bravo").click();
  await sendRequest("POST", `v1/vaults/${vault}/items/${items[0]}/archive`, token);
  await bar(page).getByText("1 item selected").waitFor();
  await more(page, "Delete…");
  await confirm(page, "Delete");
  await page.getByText("1 item deleted").waitFor();
  expect((await summaries(token, vault)).map(({ title }) => title)).toEqual(["Alpha", "Charlie", "Delta", "Echo"]);
  await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("Charlie");
});

it("a tag is added once when the answer is lost, and the act goes on", async () => {
  const { page, token, vault } = await openBulk(LETTERS.slice(0, 1));
  expectProblem(page, /ERR_CONNECTION_RESET/);
  const fault = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "lost");
  await tile(page, "Alpha").click();
  await bar(page).getByRole("button", { name: "Tag…" }).click();
  await page.getByRole("dialog").getByLabel("Tag").fill("new");
  await confirm(page, "Add tag");
  await page.getByRole("dialog").getByText("1 failed").waitFor({ timeout: 120_000 });
  fault.end();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Retry/ })
    .click();
  await page.getByText("1 item tagged").waitFor();
  expect((await summaries(token, vault))[0]!.tags).toEqual(["kept", "new"]);
});

it("Escape in a menu or a dialog of the selected Items keeps the selection", async () => {
  const { page } = await openBulk(LETTERS);
  await tile(page, "Bravo").click();
  await bar(page).getByRole("button", { name: "Tag…" }).click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await selected(page)).toEqual(["Bravo"]);
});

it("Items of a vault that may only be read are selected, and nothing is offered that would be refused", async () => {
  const vault = await makeVault("Only read");
  const writer = await makeToken({ [vault]: "rw" }, "uuid");
  await makeItems(writer.token, vault, [login("Alpha")]);
  const { token } = await makeToken({ [vault]: "r" }, "uuid");
  const page = await openPage({ token });
  await page.goto("/console/");
  await tile(page, "Alpha").click();
  expect(await bar(page).getByRole("button").allInnerTexts()).toEqual(["", "×"]);
  await bar(page)
    .getByRole("button", { name: /^More actions/ })
    .click();
  expect(await page.locator(":popover-open button").allInnerTexts()).toEqual(["Export…", "Select all"]);
});

const PASSWORD = "correct horse battery";

/** Asks for the export of the selected Items under a password. */
async function exportSelected(page: Page, password = PASSWORD, again = password): Promise<void> {
  if ((await page.getByRole("dialog").count()) === 0) await more(page, "Export…");
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
    await tile(page, "Alpha").click();
    await tile(page, "Bravo").click();
    const sent: string[] = [];
    page.on("request", (request) => request.method() !== "GET" && sent.push(request.url()));
    const saving = page.waitForEvent("download");
    await exportSelected(page);
    const download = await saving;
    await page.getByText("2 items exported").waitFor();
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
    await tile(page, "Alpha").click();
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
    await tile(page, "Sectioned").click();
    await tile(page, "Bravo").click();
    await tile(page, "Alpha").click();
    expectProblem(page, /500/);
    await injectFault(page, "GET", `/v1/vaults/${vault}/items/${id}`, { status: 500, kind: "integrity" });
    await exportSelected(page);
    await page.getByText("2 items read. 1 failed, and 0 items not tried.").waitFor();
    await confirm(page, "Discard");
    expect(await bar(page).count()).toBe(0);
    await tile(page, "Alpha").click();
    await tile(page, "Sectioned").click();
    await exportSelected(page);
    let saving = page.waitForEvent("download");
    await confirm(page, "Save 1 item");
    expect((await importedFrom(await saving, PASSWORD)).map(({ title }) => title)).toEqual(["Alpha"]);
    await page.unrouteAll();
    await tile(page, "Sectioned").click();
    saving = page.waitForEvent("download");
    await exportSelected(page);
    await page.getByRole("dialog").getByText("sections of fields (1)").waitFor();
    expect((await importedFrom(await saving, PASSWORD))[0]!.fields).toMatchObject([{ label: "Serial", value: "42" }]);
    await confirm(page, "Done");
    expect(await bar(page).count()).toBe(0);
  });
});
