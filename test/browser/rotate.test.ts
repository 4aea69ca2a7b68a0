import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { CHARACTER_SETS, DEFAULT_RECIPE } from "../../src/model/recipe.ts";
import { makeToken, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { injectFault, stopFollowing } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";

/** Rotating a password from its row. */

const OLD = "old-secret";

interface Item {
  readonly title: string;
  readonly version: number;
  readonly fields: readonly { readonly id: string; readonly value: string }[];
}

/** Makes a page believe that the service keeps no earlier versions. */
async function keepNoVersions(page: Page): Promise<void> {
  await page.route("**/console/session", async (route) => {
    const headers = { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" };
    const response = await route.fetch({ headers });
    const session = (await response.json()) as { settings: object };
    return route.fulfill({ response, json: { ...session, settings: { ...session.settings, versionsKept: 0 } } });
  });
}

async function openLogin() {
  const { vault, token, items } = await seed([login("Rotated", { password: OLD })]);
  const path = `v1/vaults/${vault}/items/${items[0]}`;
  const page = await openPage({ token });
  const load = async () => {
    const item = (await sendRequest("GET", path, token)) as Item;
    return { title: item.title, version: item.version, password: item.fields.find(({ id }) => id === "password")!.value };
  };
  const goto = async () => {
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await page.getByRole("heading", { name: "Rotated" }).waitFor();
  };
  return { page, path, token, load, goto };
}

async function rotate(page: Page): Promise<void> {
  await page.getByRole("button", { name: "More actions for password" }).click();
  await page.getByRole("button", { name: "Rotate", exact: true }).click();
}

const text = (id: string, more: object) => ({ id, label: id, value: "1", ...more });
const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Password rotated" });
const html = (page: Page) => page.evaluate<string>("document.documentElement.outerHTML");

describe("rotating a password", () => {
  it("has both values at hand although another Item was opened before the answer arrived, and a second one waits for it", async () => {
    const { page, load, goto } = await openLogin();
    await goto();
    const write = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "late");
    await rotate(page);
    await write.answered;
    await rotate(page);
    await page.goto("/console/#/activity");
    write.end();
    const dialog = dialogOf(page);
    await dialog.waitFor();
    const { version, password } = await load();
    expect([version, write.requests.length]).toEqual([2, 1]);
    await dialog.getByRole("button", { name: "Reveal new password" }).click();
    await dialog.getByText(password, { exact: true }).waitFor();
    await page.goBack();
    await dialog.getByText(password, { exact: true }).waitFor();
  });

  it.each(["lost", "network"] as const)(
    "of which no answer arrives (%s) has both values at hand, and says that it may have been written",
    async (fault) => {
      const { page, load, goto } = await openLogin();
      expectProblem(page, /ERR_CONNECTION_(RESET|FAILED)/);
      await goto();
      await injectFault(page, "PATCH", "/v1/vaults/*/items/*", fault);
      await rotate(page);
      const dialog = page.getByRole("dialog", { name: "Password may be rotated" });
      await dialog.getByRole("button", { name: "Reveal old password" }).click();
      await dialog.getByText(OLD, { exact: true }).waitFor();
      await dialog.getByText("The answer was lost").waitFor();
      expect(await checkLooks(page)).toBe("");
      await dialog.getByRole("button", { name: "Reveal new password" }).click();
      const { version, password } = await load();
      expect(version).toBe(fault === "lost" ? 2 : 1);
      if (fault === "lost") await dialog.getByText(password, { exact: true }).waitFor();
    },
  );

  it("whose answer arrives after the session has ended shows both values after the next sign-in, and not before", async () => {
    const { page, token, goto } = await openLogin();
    await goto();
    const write = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "late");
    await rotate(page);
    await write.answered;
    await page.context().clearCookies();
    await page.evaluate(`new BroadcastChannel("item-vault-session").postMessage("changed")`);
    const ended = page.getByRole("dialog", { name: "Your session has ended" });
    await ended.waitFor();
    const answered = page.waitForResponse((response) => response.request().method() === "PATCH");
    write.end();
    await answered;
    await ended.getByLabel("Token").fill(token);
    expect(await dialogOf(page).count()).toBe(0);
    await page.keyboard.press("Enter");
    await dialogOf(page).getByRole("button", { name: "Reveal old password" }).click();
    await dialogOf(page).getByText(OLD, { exact: true }).waitFor();
  });

  it("where no versions are kept warns before the old value is lost, also by a reload", async () => {
    const { page, goto } = await openLogin();
    await keepNoVersions(page);
    await goto();
    await rotate(page);
    const dialog = dialogOf(page);
    await dialog.getByText("This service keeps no earlier versions").waitFor();
    await dialog.getByRole("button", { name: "Copy new password" }).click();
    await page.keyboard.press("Escape");
    expect(await dialog.getByRole("alert").innerText()).toContain("You haven’t copied the old value.");
    expectProblem(page, /^beforeunload/);
    await Promise.all([page.waitForEvent("dialog"), page.evaluate("void setTimeout(() => location.reload())")]);
    await dialog.getByRole("button", { name: "Copy old password" }).click();
    await dialog.getByText("Old password copied").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Password rotated").waitFor();
    expect(await dialog.count()).toBe(0);
  });

  it("shows neither value after the session has ended", async () => {
    const { page, goto } = await openLogin();
    await stopFollowing(page);
    await goto();
    await rotate(page);
    const dialog = dialogOf(page);
    await dialog.getByRole("button", { name: "Reveal old password" }).click();
    await dialog.getByText(OLD, { exact: true }).waitFor();
    await page.context().clearCookies();
    // As another tab tells that the session has changed.
    await page.evaluate("new BroadcastChannel('item-vault-session').postMessage('changed')");
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    expect(await page.getByText(OLD, { exact: true }).isVisible()).toBe(false);
  });

  it("writes a value of the generator's recipe, and has both to be copied until its dialog is closed", async () => {
    const { page, load, goto } = await openLogin();
    await goto();
    await rotate(page);
    const dialog = dialogOf(page);
    await dialog.waitFor();
    const { version, password } = await load();
    expect(version).toBe(2);
    expect(password).toHaveLength(DEFAULT_RECIPE.length);
    const characters = new Set(Object.values(CHARACTER_SETS).join(""));
    expect([...password].filter((character) => !characters.has(character))).toEqual([]);
    expect(await html(page)).not.toContain(OLD);
    expect(await html(page)).not.toContain(password);
    expect(await checkLooks(page)).toBe("");
    for (const [name, value] of Object.entries({ new: password, old: OLD })) {
      await dialog.getByRole("button", { name: `Copy ${name} password` }).click();
      await dialog.getByText(`${name === "new" ? "New" : "Old"} password copied`).waitFor();
      expect(await readClipboard(page)).toBe(value);
      await dialog.getByRole("button", { name: `Reveal ${name} password` }).click();
      await dialog.getByText(value, { exact: true }).waitFor();
    }
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByText("Password rotated").waitFor();
    expect(await dialog.count()).toBe(0);
    expect(await html(page)).not.toContain(OLD);
    expect(await html(page)).not.toContain(password);
    await page.getByRole("button", { name: "Copy password" }).click();
    await page.getByText("Password copied").waitFor();
    expect(await readClipboard(page)).toBe(password);
  });

  it("is undone by the message after its dialog", async () => {
    const { page, load, goto } = await openLogin();
    await goto();
    await rotate(page);
    await dialogOf(page).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.locator(".toast", { hasText: "Undone" }).waitFor();
    expect(await load()).toEqual({ title: "Rotated", version: 3, password: OLD });
  });

  it("overwrites nothing that somebody else has written meanwhile, and shows that", async () => {
    const { page, path, token, load, goto } = await openLogin();
    await stopFollowing(page);
    await goto();
    await sendRequest("PATCH", path, token, [{ op: "replace", path: "/title", value: "Theirs" }]);
    expectProblem(page, /412/);
    await rotate(page);
    await page.getByText("Someone else changed this item.").waitFor();
    await page.getByRole("heading", { name: "Theirs" }).waitFor();
    expect(await dialogOf(page).count()).toBe(0);
    expect(await load()).toEqual({ title: "Theirs", version: 2, password: OLD });
  });

  it("of a field with a long name has the whole of its messages on a phone", async () => {
    const label = "Long name ".repeat(90).trim();
    const { vault, token, items } = await seed([{ title: "Long", fields: [{ id: "p", type: "CONCEALED", label, value: OLD }] }]);
    const page = await openPage({ token, width: 390, height: 780 });
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await page.getByRole("button", { name: /^Copy Long/ }).click();
    const message = page.getByText(/^Long name .*… copied/);
    expect((await message.boundingBox())!.height).toBeLessThan(200);
    await page.getByRole("button", { name: /^More actions for Long/ }).click();
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: /… rotated$/ });
    await dialog.getByRole("button", { name: "Done" }).click({ trial: true });
    expect((await dialog.getByRole("heading").boundingBox())!.height).toBeLessThan(200);
  });

  it("is offered where people generate values, and the session may write", async () => {
    const fields = [
      text("user", { type: "STRING", purpose: "USERNAME" }),
      text("word", { type: "CONCEALED", purpose: "PASSWORD" }),
      text("other", { type: "CONCEALED" }),
      text("key", { type: "CONCEALED", value: "line\nline" }),
      text("notes", { type: "CONCEALED", purpose: "NOTES" }),
      text("code", { type: "OTP", value: "JBSWY3DPEHPK3PXP" }),
      text("ssh", { type: "SSHKEY" }),
      text("card", { type: "CREDIT_CARD_NUMBER", value: "4111111111111111" }),
    ];
    const { vault, token, items } = await seed([{ title: "Fields", fields }]);
    const reader = (await makeToken({ [vault]: "r" }, "uuid")).token;
    for (const [session, offered] of [
      [token, ["other", "word"]],
      [reader, []],
    ] as const) {
      const page = await openPage({ token: session });
      await page.goto(`/console/#/items/${vault}/${items[0]}`);
      await page.getByRole("timer").waitFor();
      const rows = page.locator(".field-row", { has: page.getByRole("button", { name: "Rotate", includeHidden: true }) });
      expect((await rows.locator("dt").allInnerTexts()).toSorted()).toEqual(offered);
    }
  });
});
