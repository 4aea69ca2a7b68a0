import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility, checkLooks } from "./support/accessibility.ts";
import {
  button,
  confirm,
  dialogOf,
  fill,
  focused,
  heading,
  labelled,
  link,
  openItem,
  openList,
  press,
  saveTitle,
  see,
  type Shown,
  shown,
  titleField,
} from "./support/console.ts";
import { injectFault, limitVault } from "./support/faults.ts";
import { acceptDialogs, expectProblem } from "./support/problems.ts";
import { login, makeItems, type Seeded, seed } from "./support/seed.ts";
import { sharePage } from "./support/shared-page.ts";

/** Making, editing and deleting Items. */

const MARKUP = "<img src=x onerror=alert(1)>";
const PATCHES = "/v1/vaults/*/items/*";

const focusedId = (page: Page) => page.evaluate<string>("document.activeElement.id");
const listOf = async ({ vault, token }: Seeded) =>
  (await sendRequest("GET", `v1/vaults/${vault}/items`, token)) as { id: string }[];
/** The only Item of a vault. */
const onlyOf = async (seeded: Shown) => shown(seeded.page, { ...seeded, items: [(await listOf(seeded))[0]!.id] });

const GRAFANA = login("Grafana", { password: "first-password" });

/** A vault that the tests share which change their own Item only. */
let team: Seeded;
beforeAll(async () => {
  team = await seed();
});
const openShared = sharePage(async () => ({ token: team.token }));

/** An Item of its own in the form. */
async function edit(): Promise<Shown> {
  const opened = shown(await openShared(), { ...team, items: await makeItems(team.token, team.vault, [GRAFANA]) });
  await opened.page.goto(`${opened.address}/edit`);
  await titleField(opened.page).waitFor();
  return opened;
}

/** The same with a vault and a page of its own. */
const editAlone = () => openItem([GRAFANA], { tab: "edit" });

/** Opens the form of a new Item in a vault without Items. */
async function create(name = "Team"): Promise<Shown> {
  const opened = await openList([], { name });
  await button(opened.page, "New item").first().click();
  return opened;
}

describe("a new Item", () => {
  it("is made with the keyboard alone, with a generated password", async () => {
    const opened = await openList([]);
    const { page } = opened;
    const tabTo = async (name: string) => {
      for (let pressed = 0; pressed < 40 && (await focused(page)) !== name; pressed++) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
    };
    await tabTo("New item");
    await titleField(page).waitFor();
    await page.keyboard.type("GitHub");
    await page.keyboard.press("Tab");
    await page.keyboard.type("ada");
    await tabTo("Generate password");
    await see(page, "Very strong (194 bits)");
    await page.keyboard.press("Enter");
    await dialogOf(page).waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toBe("Generate password");
    const generated = await labelled(page, "password").inputValue();
    expect(generated).toHaveLength(32);
    await page.keyboard.press("Control+s");
    await heading(page, "GitHub").waitFor();
    const { fields } = await (await onlyOf(opened)).load();
    expect(fields.map(({ label, purpose }) => [label, purpose])).toEqual([
      ["username", "USERNAME"],
      ["password", "PASSWORD"],
      ["one-time password", undefined],
      ["notes", "NOTES"],
    ]);
    expect(fields[1]!.value).toBe(generated);
    await page.getByRole("list", { name: "Items" }).getByRole("link", { name: "GitHub ada" }).waitFor();
  });

  it("begins with the fields of its category, and needs a title", async () => {
    const { page } = await create("Second");
    await labelled(page, "password").fill("kept");
    await page.getByLabel("Category").selectOption("Database");
    await page.getByRole("textbox", { name: "server", exact: true }).fill(MARKUP);
    await press(page, "Save");
    await titleField(page).and(page.locator(":focus:invalid")).waitFor();
    await saveTitle(page, MARKUP);
    await heading(page, MARKUP).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    await see(page, "Database in Second");
    await press(page, "Reveal password");
    await see(page, "kept");
  });

  it("has no empty row of the form, and shows none", async () => {
    const opened = await create();
    const { page } = opened;
    await press(page, "Add URL", "Add field", "Add section", "Add field to new section");
    await page.getByLabel("Add tag").fill(" , ");
    await saveTitle(page, "Without rows");
    await heading(page, "Without rows").waitFor();
    const { urls, tags, sections, fields } = await (await onlyOf(opened)).load();
    expect({ urls, tags, sections }).toEqual({ urls: [], tags: [], sections: [] });
    expect(fields.filter(({ label }) => label === "")).toEqual([]);
    expect(await page.getByRole("region", { name: "URLs" }).count()).toBe(0);
  });

  it("is made once when the answer is lost, in the vault of the first request and with what was typed since", async () => {
    const { page, titles } = await create();
    for (const problem of [/ERR_CONNECTION_RESET/, /409/]) expectProblem(page, problem);
    const { end } = await injectFault(page, "POST", "/v1/vaults/*/items", "lost");
    await saveTitle(page, "Once");
    await see(page.getByRole("alert"), "The service did not answer");
    end();
    // In another vault the same id would be that of a second Item.
    await see(page, "may already be in this vault");
    expect(await page.locator(".item-form").getByLabel("Vault").isDisabled()).toBe(true);
    await saveTitle(page, "Once more");
    await heading(page, "Once more").waitFor();
    expect(await titles()).toEqual(["Once more"]);
  });

  it("that was made by a request without an answer, and deleted by somebody else, can be discarded", async () => {
    const opened = await create();
    const { page } = opened;
    for (const problem of [/ERR_CONNECTION_RESET/, /409/, /404/]) expectProblem(page, problem);
    const { end } = await injectFault(page, "POST", "/v1/vaults/*/items", "lost");
    await saveTitle(page, "Deleted");
    await see(page, "may already be in this vault");
    end();
    await (await onlyOf(opened)).remove();
    await press(page, "Save", "Discard changes");
    await see(page, "No items yet.");
  });
});

describe("editing", () => {
  it("changes fields, sections, URLs and tags, and sends only what has changed", async () => {
    const { page, load } = await edit();
    const bodies: string[] = [];
    page.on("request", (request) => request.method() === "PATCH" && bodies.push(request.postData()!));
    await press(page, "Save");
    await heading(page, "Grafana").waitFor();
    expect(bodies).toEqual([]);
    await link(page, "Edit").click();
    const add = async (name: string, id: RegExp, text: string) => {
      await press(page, name);
      await expect.poll(() => focusedId(page)).toMatch(id);
      await page.keyboard.type(text);
    };
    await add("Add section", /^section /, "Recovery");
    await add("Add field to Recovery", /^label /, "code");
    await page.getByLabel("Type").selectOption("Password");
    await labelled(page, "code").fill("1111");
    await add("Add URL", /^url-1$/, "https://b.example");
    await page.getByLabel("Add tag").fill("prod, team");
    await press(page, "Save");
    await page.getByRole("region", { name: "Recovery" }).waitFor();
    const { version, tags, sections, fields } = await load();
    expect([version, tags, sections[0]!.label]).toEqual([2, ["prod", "team"], "Recovery"]);
    expect(fields[2]).toMatchObject({ label: "code", type: "CONCEALED", value: "1111", section: { id: sections[0]!.id } });
    expect(bodies.join("")).not.toContain("first-password");
  });

  it("moves and removes fields with the keyboard, which keeps the focus", async () => {
    const { page, load } = await edit();
    await press(page, "Settings of password");
    await button(page, "Move password up").press("Enter");
    await expect.poll(() => focused(page)).toBe("Move password down");
    await press(page, "Settings of username", "Remove username");
    await expect.poll(() => focused(page)).toBe("Add field");
    await press(page, "Save");
    await heading(page, "Grafana").waitFor();
    expect((await load()).fields.map(({ id }) => id)).toEqual(["password"]);
  });

  it("the generator follows its settings and shows the exact entropy", async () => {
    const { page } = await edit();
    await press(page, "Generate password");
    const generated = page.getByLabel("Generated value");
    await page.getByLabel("Number of characters").fill("4");
    for (const set of ["Letters", "Symbols"]) await page.getByLabel(set).uncheck();
    await page.getByLabel("Exclude").fill("01");
    await see(page, "Weak (12 bits)");
    const before = await generated.textContent();
    expect(before).toMatch(/^[2-9]{4}$/);
    await expect.poll(() => press(page, "Regenerate").then(() => generated.textContent())).not.toBe(before);
    await page.getByLabel("Digits").uncheck();
    await see(page, "No characters left to choose from");
    expect(await button(page, "Use password").isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await labelled(page, "password").inputValue()).toBe("first-password");
  });
});

it("a concealed text of several lines stays revealed while it is typed, and is hidden 30 seconds after that", async () => {
  const { page, load } = await openItem([login("Key", { password: "first line\n" })], {
    tab: "edit",
    fresh: true,
    before: (opened) => opened.clock.install(),
  });
  const value = () => labelled(page, "password").inputValue();
  await press(page, "Reveal password");
  await expect.poll(value).toBe("first line\n");
  await labelled(page, "password").press("Control+End");
  for (const line of ["second", " and", " third"]) {
    await page.keyboard.type(line);
    await page.clock.runFor(29_000);
  }
  expect(await value()).toBe("first line\nsecond and third");
  await page.clock.runFor(1_500);
  await expect.poll(value).toBe("");
  await press(page, "Save");
  await heading(page, "Key").waitFor();
  expect((await load()).fields[1]!.value).toBe("first line\nsecond and third");
});

describe("a conflict", () => {
  it("shows both sides where they differ, and keeps what is chosen", async () => {
    const { page, load, patch } = await edit();
    expectProblem(page, /412/);
    await titleField(page).fill("Mine");
    await labelled(page, "password").fill("mine-password");
    await labelled(page, "username").fill("my-name");
    await patch({ "/title": "Theirs", "/tags": ["theirs"], "/fields/password/value": "theirs-password" });
    await press(page, "Save");
    await heading(page, "Someone else changed this item").waitFor();
    expect((await load()).title).toBe("Theirs");
    const groups = page.locator("article").getByRole("group");
    const names = await groups.evaluateAll((all) => all.map((group) => group.firstChild!.textContent));
    expect(names).toEqual(["Title", "username", "password", "Tags"]);
    expect(await page.content()).not.toContain("-password");
    await press(page, "Reveal theirs of password");
    await see(page, "theirs-password");
    await fill(page, { "Mine: Title": true, "Theirs: password": true });
    // Each side alone has changed these.
    for (const chosen of ["Mine: username", "Theirs: Tags"]) expect(await page.getByLabel(chosen).isChecked()).toBe(true);
    await press(page, "Save");
    await heading(page, "Mine").waitFor();
    const { title, tags, fields, version } = await load();
    const values = fields.map(({ value }) => value);
    expect([title, tags, values, version]).toEqual(["Mine", ["theirs"], ["my-name", "theirs-password"], 3]);
  });

  it("begins again when there is a second one, and all of one side can be chosen", async () => {
    const { page, load, patch } = await edit();
    expectProblem(page, /412/);
    await titleField(page).fill("Mine");
    await patch({ "/title": "Theirs" });
    await press(page, "Save", "Keep mine");
    await patch({ "/title": "Theirs again" });
    await press(page, "Save");
    await see(page.getByRole("group"), "Theirs again"); // The list may show it too.
    await press(page, "Take theirs", "Save");
    await heading(page, "Theirs again").waitFor();
    expect((await load()).version).toBe(3);
  });

  it("with a deletion keeps what was typed, and can make a new Item of it", async () => {
    const { page, remove, titles } = await editAlone();
    expectProblem(page, /404/);
    await titleField(page).fill("Typed");
    await remove();
    await press(page, "Save");
    await see(page, "This item was deleted");
    await press(page, "Create a new item");
    await heading(page, "Typed").waitFor();
    expect(await titles()).toEqual(["Typed"]);
  });
});

describe("a failure to save", () => {
  it("is told beside the button, and nothing typed is lost: a lost right, then no network", async () => {
    const { page, load } = await edit();
    await titleField(page).fill("Typed");
    for (const [fault, problem, text] of [
      [{ status: 403, kind: "out_of_scope" }, /403/, "You don’t have permission"],
      ["network", /ERR_CONNECTION_FAILED/, "The service did not answer"],
    ] as const) {
      expectProblem(page, problem);
      const { end } = await injectFault(page, "PATCH", PATCHES, fault);
      await press(page, "Save");
      await see(page.getByRole("alert"), text);
      end();
    }
    await press(page, "Save");
    await heading(page, "Typed").waitFor();
    expect((await load()).version).toBe(2);
  });

  it("of a one-time password that gives no codes is prevented before the next frame of the page, and told in words", async () => {
    const { page, load } = await edit();
    await press(page, "Add field");
    await page.getByLabel("Type").last().selectOption("One-time password");
    const input = page.getByPlaceholder("setup key");
    const told = await input.evaluate(async (one: HTMLInputElement) => {
      one.value = "0189";
      one.dispatchEvent(new InputEvent("input", { bubbles: true }));
      for (let turn = 0; turn < 20; turn++) await Promise.resolve(); // A click comes after these, and may come before a frame.
      return one.validationMessage;
    });
    expect(told).toContain("or a setup key");
    await press(page, "Save");
    await input.fill("JBSW Y3DP EHPK 3PXP");
    await press(page, "Save");
    await heading(page, "Grafana").waitFor();
    expect((await load()).fields.at(-1)?.value).toBe("JBSW Y3DP EHPK 3PXP");
  });

  it("a full vault and a refused value are told in words", async () => {
    const { page, vault } = await editAlone();
    for (const problem of [/507/, /400/]) expectProblem(page, problem);
    const username = labelled(page, "username");
    const saveAs = async (kind: string, text: string) => {
      await page.getByLabel("Type").selectOption("Text");
      await username.fill(text);
      await page.getByLabel("Type").selectOption(kind);
      await press(page, "Save");
    };
    await press(page, "Settings of username");
    await limitVault(vault, { bytes: 0 });
    await saveAs("Text", "a much longer user name than before".repeat(10));
    await see(page.getByRole("alert"), "The vault is full");
    await saveAs("Month", "x".repeat(10));
    expect(await page.evaluate("document.activeElement.validity.patternMismatch")).toBe(true);
    expectProblem(page, /does not conform to the required format/); // It is sent as it was typed.
    await saveAs("Date", "2026-13-45");
    await see(page.getByRole("alert"), "fields[0]");
    expect(await titleField(page).inputValue()).toBe("Grafana");
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
    const { page, load } = await editAlone();
    await press(page, "Cancel");
    await heading(page, "Grafana").waitFor();
    await link(page, "Edit").click();
    await titleField(page).fill("Typed");
    const dialog = dialogOf(page, "Leave without saving?");
    await page.getByRole("list", { name: "Items" }).getByRole("link").click();
    await dialog.waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(page.url()).toMatch(/\/edit$/);
    await page.goBack();
    await dialog.waitFor();
    expect(page.url()).toMatch(/\/edit$/);
    expect(await titleField(page).inputValue()).toBe("Typed");
    await press(page, "Discard changes");
    await heading(page, "Grafana").waitFor();
    expect((await load()).version).toBe(1);
    await link(page, "Edit").click();
    await titleField(page).fill("Typed");
    acceptDialogs(page);
    const asked = page.waitForEvent("dialog");
    await page.evaluate("location.reload()").catch(() => undefined);
    expect((await asked).type()).toBe("beforeunload");
  });

  it("keeps what was typed while a save was under way, asks for it alone, and saves it the next time", async () => {
    const { page, load } = await edit();
    const { requests, end } = await injectFault(page, "PATCH", PATCHES, "held");
    await saveTitle(page, "Saved");
    await expect.poll(() => requests.length).toBe(1);
    await titleField(page).fill("Typed since");
    end();
    await expect.poll(async () => (await load()).title).toBe("Saved");
    await button(page, "Save").waitFor();
    expect(await titleField(page).inputValue()).toBe("Typed since");
    const dialog = dialogOf(page, "Leave without saving?");
    await press(page, "Cancel");
    await dialog.waitFor();
    await press(page, "Keep editing");
    await titleField(page).fill("Saved");
    await press(page, "Cancel");
    await heading(page, "Saved").waitFor();
    expect(await dialog.count()).toBe(0);
    await link(page, "Edit").click();
    await saveTitle(page, "Saved again");
    await heading(page, "Saved again").waitFor();
    expect([await dialog.count(), (await load()).title]).toEqual([0, "Saved again"]);
  });
});

describe("the buttons of an Item", () => {
  it("mark it as a favourite, archive it, and delete it after a question", async () => {
    const { page, load } = await openItem([login("Grafana"), login("Other")]);
    await press(page, "Favorite");
    await page.getByRole("button", { name: "Favorite", pressed: true }).waitFor();
    await press(page, "More actions", "Archive");
    await see(page, /^Login in Team · archived/);
    await press(page, "More actions", "Unarchive");
    await see(page, /^Login in Team$/);
    expect(await load()).toMatchObject({ version: 4, favorite: true });
    await press(page, "More actions", "Delete…");
    await see(dialogOf(page, "Delete this item?"), "“Grafana” in Team");
    expect(await checkAccessibility(page)).toBe("");
    await confirm(page, "Delete");
    await see(page, "Select an item to see it here.");
    await expect.poll(() => focused(page)).toContain("Other");
    expect(await page.getByRole("list", { name: "Items" }).getByRole("link").count()).toBe(1);
  });

  it("are not there for a session that may only read", async () => {
    const { page, address } = await openItem([login("Grafana")], { permission: "r" });
    for (const name of ["New item", "Favorite", "More actions"]) expect(await button(page, name).count()).toBe(0);
    await page.goto(`${address}/edit`);
    await see(page, "You don’t have permission to change");
  });
});

it("form, generator and conflict have no violation of accessibility, light and dark, wide and narrow", async () => {
  const { page, patch } = await edit();
  expectProblem(page, /412/);
  await press(page, "Settings of password", "Add section");
  await expect.poll(() => focusedId(page)).toMatch(/^section /);
  await page.getByLabel("Add tag").fill(MARKUP);
  await page.keyboard.press("Enter");
  expect(await checkLooks(page)).toBe("");
  await press(page, "Generate password");
  expect(await checkLooks(page)).toBe("");
  await press(page, "Use password");
  await patch({ "/fields/password/value": "other", "/tags": ["x"] });
  await press(page, "Save");
  await heading(page, "Someone else changed this item").waitFor();
  expect(await checkLooks(page)).toBe("");
});
