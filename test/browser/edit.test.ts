import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility, checkLooks } from "./support/accessibility.ts";
import { injectFault, limitVault, stopFollowing } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { acceptDialogs, expectProblem } from "./support/problems.ts";
import { login, makeItems, type Seeded, seed } from "./support/seed.ts";
import { sharePage } from "./support/shared-page.ts";

/** Making, editing and deleting Items. */

interface Stored {
  readonly title: string;
  readonly version: number;
  readonly tags: string[];
  readonly urls: object[];
  readonly fields: { id: string; label: string; type: string; value: string; purpose: string; section?: { id: string } }[];
  readonly sections: { id: string; label: string }[];
}

const MARKUP = "<img src=x onerror=alert(1)>";

const pathOf = ({ vault, items: [item] }: Seeded) => `v1/vaults/${vault}/items/${item}`;
const stored = async (seeded: Seeded) => (await sendRequest("GET", pathOf(seeded), seeded.token)) as Stored;
const patch = (seeded: Seeded, values: Record<string, unknown>) =>
  sendRequest(
    "PATCH",
    pathOf(seeded),
    seeded.token,
    Object.entries(values).map(([path, value]) => ({ op: "replace", path, value })),
  );
const listOf = (seeded: Seeded) => sendRequest("GET", `v1/vaults/${seeded.vault}/items`, seeded.token) as Promise<Stored[]>;

const value = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });
/** An input for a password has no role of its own. */
const secret = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const focused = (page: Page) => page.evaluate<string>("document.activeElement.ariaLabel ?? document.activeElement.textContent");
const focusedId = (page: Page) => page.evaluate<string>("document.activeElement.id");

const GRAFANA = login("Grafana", { password: "first-password" });

/** A vault that the tests share which change their own Item only. */
let team: Seeded;
beforeAll(async () => {
  team = await seed();
});
const openShared = sharePage(async () => ({ token: team.token }));

interface Edited {
  readonly page: Page;
  readonly seeded: Seeded;
}

/** An Item of its own in the form. */
async function edit(): Promise<Edited> {
  const seeded = { ...team, items: await makeItems(team.token, team.vault, [GRAFANA]) };
  return openForm(await openShared(), seeded);
}

/** The same with a vault and a page of its own. */
async function editAlone(): Promise<Edited> {
  const seeded = await seed([GRAFANA]);
  return openForm(await openPage({ token: seeded.token }), seeded);
}

async function openForm(page: Page, seeded: Seeded): Promise<Edited> {
  await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}/edit`);
  await page.getByLabel("Title").waitFor();
  return { page, seeded };
}

describe("a new Item", () => {
  it("is made with the keyboard alone, with a generated password", async () => {
    const seeded = await seed();
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/");
    await page.getByText("No items yet.").waitFor();
    const tabTo = async (name: string) => {
      for (let pressed = 0; pressed < 40 && (await focused(page)) !== name; pressed++) await page.keyboard.press("Tab");
    };
    await tabTo("New item");
    await page.keyboard.press("Enter");
    await page.getByLabel("Title").waitFor();
    await page.keyboard.type("GitHub");
    await page.keyboard.press("Tab");
    await page.keyboard.type("ada");
    await tabTo("Generate password");
    await page.keyboard.press("Enter");
    await page.getByText("Very strong (194 bits)").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toBe("Generate password");
    const generated = await secret(page, "password").inputValue();
    expect(generated).toHaveLength(32);
    await page.keyboard.press("Control+s");
    await heading(page, "GitHub").waitFor();
    const [made] = await listOf(seeded);
    const item = await stored({ ...seeded, items: [(made as unknown as { id: string }).id] });
    expect(item.fields.map(({ label, purpose }) => [label, purpose])).toEqual([
      ["username", "USERNAME"],
      ["password", "PASSWORD"],
      ["one-time password", undefined],
      ["notes", "NOTES"],
    ]);
    expect(item.fields[1]!.value).toBe(generated);
    await page.getByRole("list", { name: "Items" }).getByRole("link", { name: "GitHub ada" }).waitFor();
  });

  it("begins with the fields of its category, and needs a title", async () => {
    const seeded = await seed([], { name: "Second" });
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/");
    await button(page, "New item").first().click();
    await secret(page, "password").fill("kept");
    await page.getByLabel("Category").selectOption("Database");
    await value(page, "server").fill(MARKUP);
    await button(page, "Save").click();
    await page.getByLabel("Title").and(page.locator(":focus:invalid")).waitFor();
    await page.getByLabel("Title").fill(MARKUP);
    await button(page, "Save").click();
    await heading(page, MARKUP).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    await page.getByText("Database in Second").waitFor();
    await button(page, "Reveal password").click();
    await page.getByText("kept").waitFor();
  });

  it("has no empty row of the form, and shows none", async () => {
    const seeded = await seed();
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/");
    await button(page, "New item").first().click();
    await page.getByLabel("Title").fill("Without rows");
    for (const name of ["Add URL", "Add field", "Add section"]) await button(page, name).click();
    await button(page, "Add field to new section").click();
    await page.getByLabel("Add tag").fill(" , ");
    await button(page, "Save").click();
    await heading(page, "Without rows").waitFor();
    const [made] = (await sendRequest("GET", `v1/vaults/${seeded.vault}/items`, seeded.token)) as { id: string }[];
    const { urls, tags, sections, fields } = await stored({ ...seeded, items: [made!.id] });
    expect({ urls, tags, sections }).toEqual({ urls: [], tags: [], sections: [] });
    expect(fields.filter(({ label }) => label === "")).toEqual([]);
    expect(await page.getByRole("region", { name: "URLs" }).count()).toBe(0);
  });

  it("is made once when the answer is lost, in the vault of the first request and with what was typed since", async () => {
    const seeded = await seed();
    const page = await openPage({ token: seeded.token });
    expectProblem(page, /ERR_CONNECTION_RESET/);
    expectProblem(page, /409/);
    await page.goto("/console/");
    await button(page, "New item").first().click();
    await page.getByLabel("Title").fill("Once");
    const { end } = await injectFault(page, "POST", "/v1/vaults/*/items", "lost");
    await button(page, "Save").click();
    await page.getByRole("alert").getByText("The service did not answer").waitFor();
    end();
    // In another vault the same id would be that of a second Item.
    await page.getByText("may already be in this vault").waitFor();
    expect(await page.locator(".item-form").getByLabel("Vault").isDisabled()).toBe(true);
    await page.getByLabel("Title").fill("Once more");
    await button(page, "Save").click();
    await heading(page, "Once more").waitFor();
    expect((await listOf(seeded)).map(({ title }) => title)).toEqual(["Once more"]);
  });

  it("that was made by a request without an answer, and deleted by somebody else, can be discarded", async () => {
    const seeded = await seed();
    const page = await openPage({ token: seeded.token });
    for (const problem of [/ERR_CONNECTION_RESET/, /409/, /404/]) expectProblem(page, problem);
    await page.goto("/console/");
    await button(page, "New item").first().click();
    await page.getByLabel("Title").fill("Deleted");
    const { end } = await injectFault(page, "POST", "/v1/vaults/*/items", "lost");
    await button(page, "Save").click();
    await page.getByText("may already be in this vault").waitFor();
    end();
    const [made] = (await listOf(seeded)) as unknown as { id: string }[];
    await sendRequest("DELETE", pathOf({ ...seeded, items: [made!.id] }), seeded.token);
    await button(page, "Save").click();
    await button(page, "Discard changes").click();
    await page.getByText("No items yet.").waitFor();
  });
});

describe("editing", () => {
  it("changes fields, sections, URLs and tags, and sends only what has changed", async () => {
    const { page, seeded } = await edit();
    const bodies: string[] = [];
    page.on("request", (request) => request.method() === "PATCH" && bodies.push(request.postData()!));
    await button(page, "Save").click();
    await heading(page, "Grafana").waitFor();
    expect(bodies).toEqual([]);
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await button(page, "Add section").click();
    await expect.poll(() => focusedId(page)).toMatch(/^section /);
    await page.keyboard.type("Recovery");
    await button(page, "Add field to Recovery").click();
    await expect.poll(() => focusedId(page)).toMatch(/^label /);
    await page.keyboard.type("code");
    await page.getByLabel("Type").selectOption("Password");
    await secret(page, "code").fill("1111");
    await button(page, "Add URL").click();
    await expect.poll(() => focusedId(page)).toBe("url-1");
    await page.keyboard.type("https://b.example");
    await page.getByLabel("Add tag").fill("prod, team");
    await button(page, "Save").click();
    await page.getByRole("region", { name: "Recovery" }).waitFor();
    const item = await stored(seeded);
    expect([item.version, item.tags, item.sections[0]!.label]).toEqual([2, ["prod", "team"], "Recovery"]);
    expect(item.fields[2]).toMatchObject({
      label: "code",
      type: "CONCEALED",
      value: "1111",
      section: { id: item.sections[0]!.id },
    });
    expect(bodies.join("")).not.toContain("first-password");
  });

  it("moves and removes fields with the keyboard, which keeps the focus", async () => {
    const { page, seeded } = await edit();
    await button(page, "Settings of password").click();
    await button(page, "Move password up").focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Move password down");
    await button(page, "Settings of username").click();
    await button(page, "Remove username").click();
    await expect.poll(() => focused(page)).toBe("Add field");
    await button(page, "Save").click();
    await heading(page, "Grafana").waitFor();
    expect((await stored(seeded)).fields.map(({ id }) => id)).toEqual(["password"]);
  });

  it("the generator follows its settings and shows the exact entropy", async () => {
    const { page } = await edit();
    await button(page, "Generate password").click();
    const shown = page.getByLabel("Generated value");
    await page.getByLabel("Number of characters").fill("4");
    await page.getByLabel("Letters").uncheck();
    await page.getByLabel("Symbols").uncheck();
    await page.getByLabel("Exclude").fill("01");
    await page.getByText("Weak (12 bits)").waitFor();
    expect(await shown.textContent()).toMatch(/^[2-9]{4}$/);
    const before = await shown.textContent();
    await expect
      .poll(async () => {
        await button(page, "Regenerate").click();
        return shown.textContent();
      })
      .not.toBe(before);
    await page.getByLabel("Digits").uncheck();
    await page.getByText("No characters left to choose from").waitFor();
    expect(await button(page, "Use password").isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await secret(page, "password").inputValue()).toBe("first-password");
  });
});

describe("a concealed text of several lines", () => {
  it("stays revealed while it is typed, and is hidden 30 seconds after that", async () => {
    const seeded = await seed([login("Key", { password: "first line\n" })]);
    const page = await openPage({ token: seeded.token, fresh: true });
    await page.clock.install();
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}/edit`);
    await button(page, "Reveal password").click();
    await expect.poll(() => secret(page, "password").inputValue()).toBe("first line\n");
    await secret(page, "password").press("Control+End");
    for (const line of ["second", " and", " third"]) {
      await page.keyboard.type(line);
      await page.clock.runFor(29_000);
    }
    expect(await secret(page, "password").inputValue()).toBe("first line\nsecond and third");
    await page.clock.runFor(1_500);
    await expect.poll(() => secret(page, "password").inputValue()).toBe("");
    await button(page, "Save").click();
    await heading(page, "Key").waitFor();
    expect((await stored(seeded)).fields[1]!.value).toBe("first line\nsecond and third");
  });
});

describe("a conflict", () => {
  it("shows both sides where they differ, and keeps what is chosen", async () => {
    const { page, seeded } = await edit();
    expectProblem(page, /412/);
    await page.getByLabel("Title").fill("Mine");
    await secret(page, "password").fill("mine-password");
    await patch(seeded, { "/title": "Theirs", "/tags": ["theirs"], "/fields/password/value": "theirs-password" });
    await button(page, "Save").click();
    await heading(page, "Someone else changed this item").waitFor();
    expect((await stored(seeded)).title).toBe("Theirs");
    const names = await page
      .locator("article")
      .getByRole("group")
      .evaluateAll((groups) => groups.map((group) => group.firstChild!.textContent));
    expect(names).toEqual(["Title", "password", "Tags"]);
    expect(await page.content()).not.toContain("-password");
    await button(page, "Reveal theirs of password").click();
    await page.getByText("theirs-password").waitFor();
    await page.getByLabel("Mine: Title").check();
    await page.getByLabel("Theirs: password").check();
    expect(await page.getByLabel("Theirs: Tags").isChecked()).toBe(true);
    await button(page, "Save").click();
    await heading(page, "Mine").waitFor();
    const { title, tags, fields, version } = await stored(seeded);
    expect([title, tags, fields[1]!.value, version]).toEqual(["Mine", ["theirs"], "theirs-password", 3]);
  });

  it("keeps a change of somebody else to another part of the Item", async () => {
    const { page, seeded } = await edit();
    expectProblem(page, /412/);
    await value(page, "username").fill("mine");
    await patch(seeded, { "/tags": ["theirs"] });
    await button(page, "Save").click();
    await page.getByRole("heading", { name: /changed/i }).waitFor();
    await button(page, "Save").click();
    await heading(page, "Grafana").waitFor();
    const after = await stored(seeded);
    expect([after.tags, after.fields.find(({ id }) => id === "username")?.value]).toEqual([["theirs"], "mine"]);
  });

  it("keeps what is typed while a save is under way, and saves it the next time", async () => {
    const { page, seeded } = await edit();
    await value(page, "Title").fill("First");
    const { requests, end } = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "held");
    await button(page, "Save").click();
    await expect.poll(() => requests.length).toBe(1);
    await value(page, "Title").fill("Second");
    end();
    await expect.poll(async () => (await stored(seeded)).title).toBe("First");
    await button(page, "Save").waitFor();
    expect(await value(page, "Title").inputValue()).toBe("Second");
    await button(page, "Save").click();
    await heading(page, "Second").waitFor();
    expect((await stored(seeded)).title).toBe("Second");
  });

  it("begins again when there is a second one, and all of one side can be chosen", async () => {
    const { page, seeded } = await edit();
    expectProblem(page, /412/);
    await page.getByLabel("Title").fill("Mine");
    await patch(seeded, { "/title": "Theirs" });
    await button(page, "Save").click();
    await button(page, "Keep mine").click();
    await patch(seeded, { "/title": "Theirs again" });
    await button(page, "Save").click();
    await page.getByRole("group").getByText("Theirs again").waitFor(); // The list may show it too.
    await button(page, "Take theirs").click();
    await button(page, "Save").click();
    await heading(page, "Theirs again").waitFor();
    expect((await stored(seeded)).version).toBe(3);
  });

  it("with a deletion keeps what was typed, and can make a new Item of it", async () => {
    const { page, seeded } = await editAlone();
    expectProblem(page, /404/);
    await page.getByLabel("Title").fill("Typed");
    await sendRequest("DELETE", pathOf(seeded), seeded.token);
    await button(page, "Save").click();
    await page.getByText("This item was deleted").waitFor();
    await button(page, "Create a new item").click();
    await heading(page, "Typed").waitFor();
    const items = await listOf(seeded);
    expect(items.map(({ title }) => title)).toEqual(["Typed"]);
  });
});

describe("a failure to save", () => {
  it("is told beside the button, and nothing typed is lost: a lost right, then no network", async () => {
    const { page, seeded } = await edit();
    expectProblem(page, /403/);
    expectProblem(page, /ERR_CONNECTION_FAILED/);
    const refused = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", { status: 403, kind: "out_of_scope" });
    await page.getByLabel("Title").fill("Typed");
    await button(page, "Save").click();
    await page.getByRole("alert").getByText("You don’t have permission").waitFor();
    refused.end();
    const cut = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "network");
    await button(page, "Save").click();
    await page.getByRole("alert").getByText("The service did not answer").waitFor();
    cut.end();
    await button(page, "Save").click();
    await heading(page, "Typed").waitFor();
    expect((await stored(seeded)).version).toBe(2);
  });

  it("of a one-time password that gives no codes is prevented, and told in words", async () => {
    const { page, seeded } = await edit();
    await button(page, "Add field").click();
    await page.getByLabel("Type").last().selectOption("One-time password");
    const input = page.getByPlaceholder("setup key");
    await input.fill("0189");
    await button(page, "Save").click();
    expect(await input.evaluate((one: HTMLInputElement) => one.validationMessage)).toContain("or a setup key");
    await input.fill("JBSW Y3DP EHPK 3PXP");
    await button(page, "Save").click();
    await heading(page, "Grafana").waitFor();
    expect((await stored(seeded)).fields.at(-1)?.value).toBe("JBSW Y3DP EHPK 3PXP");
  });

  it("of a value that gives no codes is prevented before the next frame of the page", async () => {
    const { page } = await edit();
    await button(page, "Add field").click();
    await page.getByLabel("Type").last().selectOption("One-time password");
    const told = page.getByPlaceholder("setup key").evaluate(async (one: HTMLInputElement) => {
      one.value = "0189";
      one.dispatchEvent(new InputEvent("input", { bubbles: true }));
      for (let turn = 0; turn < 20; turn++) await Promise.resolve(); // A click comes after these, and may come before a frame.
      return one.validationMessage;
    });
    expect(await told).toContain("or a setup key");
  });

  it("a full vault and a refused value are told in words", async () => {
    const { page, seeded } = await editAlone();
    expectProblem(page, /507/);
    expectProblem(page, /400/);
    await limitVault(seeded.vault, { bytes: 0 });
    await value(page, "username").fill("a much longer user name than before".repeat(10));
    await button(page, "Save").click();
    await page.getByRole("alert").getByText("The vault is full").waitFor();
    await button(page, "Settings of username").click();
    await page.getByLabel("Type").selectOption("Month");
    await value(page, "username").fill("x".repeat(10));
    await button(page, "Save").click();
    expect(await page.evaluate("document.activeElement.validity.patternMismatch")).toBe(true);
    await page.getByLabel("Type").selectOption("Text");
    await value(page, "username").fill("2026-13-45");
    expectProblem(page, /does not conform to the required format/); // It is sent as it was typed.
    await page.getByLabel("Type").selectOption("Date");
    await button(page, "Save").click();
    await page.getByRole("alert").getByText("fields[0]").waitFor();
    expect(await value(page, "Title").inputValue()).toBe("Grafana");
  });

  it("an ended session asks to sign in, and what was typed is saved afterwards", async () => {
    const seeded = await seed([GRAFANA]);
    const page = await openPage({ token: seeded.token });
    expectProblem(page, /401/);
    await stopFollowing(page);
    await openForm(page, seeded);
    await page.getByLabel("Title").fill("Typed");
    await page.evaluate(`fetch("/console/session", { method: "DELETE", headers: { "Item-Vault-Console": "1" } })`);
    await button(page, "Save").click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByLabel("Token").fill(seeded.token);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByText("You are signed in again").waitFor();
    await button(page, "Save").click();
    await heading(page, "Typed").waitFor();
  });
});

describe("the focus", () => {
  it.each(["Add field", "Add section", "Add URL"])("is in what “%s” adds before the next frame of the page", async (name) => {
    const { page } = await edit();
    const within = button(page, name).evaluate(async (one: HTMLButtonElement) => {
      one.click();
      for (let turn = 0; turn < 20; turn++) await Promise.resolve(); // A key comes after these, and may come before a frame.
      return (
        document.activeElement?.matches("input[value=''], input:not([value])") === true &&
        document.activeElement.id !== "item-title"
      );
    });
    expect(await within).toBe(true);
  });
});

describe("leaving the form", () => {
  it("asks when something has changed: for a link, the back button and the page itself", async () => {
    const { page, seeded } = await editAlone();
    await button(page, "Cancel").click();
    await heading(page, "Grafana").waitFor();
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.getByLabel("Title").fill("Typed");
    const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
    await page.getByRole("list", { name: "Items" }).getByRole("link").click();
    await dialog.waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(page.url()).toMatch(/\/edit$/);
    await page.goBack();
    await dialog.waitFor();
    expect(page.url()).toMatch(/\/edit$/);
    expect(await value(page, "Title").inputValue()).toBe("Typed");
    await button(page, "Discard changes").click();
    await heading(page, "Grafana").waitFor();
    expect((await stored(seeded)).version).toBe(1);
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.getByLabel("Title").fill("Typed");
    acceptDialogs(page);
    const asked = page.waitForEvent("dialog");
    await page.evaluate("location.reload()").catch(() => undefined);
    expect((await asked).type()).toBe("beforeunload");
  });

  it("asks nothing right after a save, and asks for what was typed since", async () => {
    const { page, seeded } = await edit();
    const { requests, end } = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "held");
    await value(page, "Title").fill("Saved");
    await button(page, "Save").click();
    await expect.poll(() => requests.length).toBe(1);
    await value(page, "Title").fill("Typed since");
    end();
    await expect.poll(async () => (await stored(seeded)).title).toBe("Saved");
    await button(page, "Save").waitFor();
    const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
    await button(page, "Cancel").click();
    await dialog.waitFor();
    await button(page, "Keep editing").click();
    await value(page, "Title").fill("Saved");
    await button(page, "Cancel").click();
    await heading(page, "Saved").waitFor();
    expect(await dialog.count()).toBe(0);
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await value(page, "Title").fill("Saved again");
    await button(page, "Save").click();
    await heading(page, "Saved again").waitFor();
    expect(await dialog.count()).toBe(0);
  });
});

describe("the buttons of an Item", () => {
  it("mark it as a favourite, archive it, and delete it after a question", async () => {
    const seeded = await seed([login("Grafana"), login("Other")]);
    const page = await openPage({ token: seeded.token });
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}`);
    await button(page, "Favorite").click();
    await page.getByRole("button", { name: "Favorite", pressed: true }).waitFor();
    const choose = async (name: string) => {
      await button(page, "More actions").click();
      await button(page, name).click();
    };
    await choose("Archive");
    await page.getByText(/^Login in Team · archived/).waitFor();
    await choose("Unarchive");
    await page.getByText("Login in Team", { exact: true }).waitFor();
    expect(await stored(seeded)).toMatchObject({ version: 4, favorite: true });
    await choose("Delete…");
    const dialog = page.getByRole("dialog", { name: "Delete this item?" });
    await dialog.getByText("“Grafana” in Team").waitFor();
    expect(await checkAccessibility(page)).toBe("");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("Select an item to see it here.").waitFor();
    await expect.poll(() => focused(page)).toContain("Other");
    expect(await page.getByRole("list", { name: "Items" }).getByRole("link").count()).toBe(1);
  });

  it("are not there for a session that may only read", async () => {
    const seeded = await seed([login("Grafana")], { permission: "r" });
    const page = await openPage({ token: seeded.token });
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}`);
    await heading(page, "Grafana").waitFor();
    for (const name of ["New item", "Favorite", "More actions"]) expect(await button(page, name).count()).toBe(0);
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}/edit`);
    await page.getByText("You don’t have permission to change").waitFor();
  });
});

it("form, generator and conflict have no violation of accessibility, light and dark, wide and narrow", async () => {
  const { page, seeded } = await edit();
  expectProblem(page, /412/);
  await button(page, "Settings of password").click();
  await button(page, "Add section").click();
  await expect.poll(() => focusedId(page)).toMatch(/^section /);
  await page.getByLabel("Add tag").fill(MARKUP);
  await page.keyboard.press("Enter");
  expect(await checkLooks(page)).toBe("");
  await button(page, "Generate password").click();
  expect(await checkLooks(page)).toBe("");
  await button(page, "Use password").click();
  await patch(seeded, { "/fields/password/value": "other", "/tags": ["x"] });
  await button(page, "Save").click();
  await heading(page, "Someone else changed this item").waitFor();
  expect(await checkLooks(page)).toBe("");
});
