import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { CHARACTER_SETS, DEFAULT_RECIPE } from "../../src/model/recipe.ts";
import { makeToken } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import {
  changeAnswers,
  dialogOf,
  endedDialog,
  heading,
  htmlOf,
  openItem,
  press,
  see,
  signInAgain,
  toast,
} from "./support/console.ts";
import { injectFault, stopFollowing } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { allowProblem, expectProblem } from "./support/problems.ts";
import { login, seed } from "./support/seed.ts";

/** Rotating a password from its row. */

const OLD = "old-secret";

/** Makes a page believe that the service keeps no earlier versions. */
const keepNoVersions = (page: Page): Promise<unknown> =>
  changeAnswers(page, "/console/session", (session) => ({ ...session, settings: { ...session.settings, versionsKept: 0 } }));

async function openLogin(before?: (page: Page) => unknown) {
  const opened = await openItem([login("Rotated", { password: OLD })], { before });
  const load = async () => {
    const { title, version, fields } = await opened.load();
    return { title, version, password: fields.find(({ id }) => id === "password")!.value };
  };
  return { ...opened, load };
}

const rotate = (page: Page): Promise<void> => press(page, "More actions for password", "Rotate");

const text = (id: string, more: object) => ({ id, label: id, value: "1", ...more });
/** As another tab tells that the session has changed. */
async function endElsewhere(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.evaluate("new BroadcastChannel('item-vault-session').postMessage('changed')");
  await endedDialog(page).waitFor();
}

const rotated = (page: Page) => dialogOf(page, "Password rotated");

describe("rotating a password", () => {
  it("has both values at hand although another Item was opened before the answer arrived, and a second one waits for it", async () => {
    const { page, load } = await openLogin();
    const write = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "late");
    await rotate(page);
    await write.answered;
    await rotate(page);
    await page.goto("/console/#/activity");
    write.end();
    const dialog = rotated(page);
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
      const { page, load } = await openLogin();
      expectProblem(page, /ERR_CONNECTION_(RESET|FAILED)/);
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
    const { page, token } = await openLogin();
    allowProblem(page, /401/); // The page may ask for the Item before the next sign-in.
    const write = await injectFault(page, "PATCH", "/v1/vaults/*/items/*", "late");
    await rotate(page);
    await write.answered;
    await endElsewhere(page);
    const answered = page.waitForResponse((response) => response.request().method() === "PATCH");
    write.end();
    await answered;
    expect(await rotated(page).count()).toBe(0);
    await signInAgain(page, token);
    await press(rotated(page), "Reveal old password");
    await rotated(page).getByText(OLD, { exact: true }).waitFor();
  });

  it("where no versions are kept warns before the old value is lost, also by a reload", async () => {
    const { page } = await openLogin(keepNoVersions);
    await rotate(page);
    const dialog = rotated(page);
    await see(dialog, "This service keeps no earlier versions");
    await press(dialog, "Copy new password");
    await page.keyboard.press("Escape");
    expect(await dialog.getByRole("alert").innerText()).toContain("You haven’t copied the old value.");
    expectProblem(page, /^beforeunload/);
    await Promise.all([page.waitForEvent("dialog"), page.evaluate("void setTimeout(() => location.reload())")]);
    await press(dialog, "Copy old password");
    await see(dialog, "Old password copied");
    await page.keyboard.press("Escape");
    await see(page, "Password rotated");
    expect(await dialog.count()).toBe(0);
  });

  it("shows neither value after the session has ended", async () => {
    const { page } = await openLogin(stopFollowing);
    await rotate(page);
    await press(rotated(page), "Reveal old password");
    await rotated(page).getByText(OLD, { exact: true }).waitFor();
    await endElsewhere(page);
    expect(await page.getByText(OLD, { exact: true }).isVisible()).toBe(false);
  });

  it("writes a value of the generator's recipe, and has both to be copied until its dialog is closed", async () => {
    const { page, load } = await openLogin();
    await rotate(page);
    const dialog = rotated(page);
    await dialog.waitFor();
    const { version, password } = await load();
    expect(version).toBe(2);
    expect(password).toHaveLength(DEFAULT_RECIPE.length);
    const characters = new Set(Object.values(CHARACTER_SETS).join(""));
    expect([...password].filter((character) => !characters.has(character))).toEqual([]);
    expect(await htmlOf(page)).not.toContain(OLD);
    expect(await htmlOf(page)).not.toContain(password);
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
    expect(await htmlOf(page)).not.toContain(OLD);
    expect(await htmlOf(page)).not.toContain(password);
    await page.getByRole("button", { name: "Copy password" }).click();
    await page.getByText("Password copied").waitFor();
    expect(await readClipboard(page)).toBe(password);
  });

  it("is undone by the message after its dialog", async () => {
    const { page, load } = await openLogin();
    await rotate(page);
    await rotated(page).waitFor();
    await page.keyboard.press("Escape");
    await press(page, "Undo");
    await toast(page, "Undone").waitFor();
    expect(await load()).toEqual({ title: "Rotated", version: 3, password: OLD });
  });

  it("overwrites nothing that somebody else has written meanwhile, and shows that", async () => {
    const { page, patch, load } = await openLogin(stopFollowing);
    await patch({ "/title": "Theirs" });
    expectProblem(page, /412/);
    await rotate(page);
    await see(page, "Someone else changed this item.");
    await heading(page, "Theirs").waitFor();
    expect(await rotated(page).count()).toBe(0);
    expect(await load()).toEqual({ title: "Theirs", version: 2, password: OLD });
  });

  it("of a field with a long name has the whole of its messages on a phone", async () => {
    const label = "Long name ".repeat(90).trim();
    const fields = [{ id: "p", type: "CONCEALED", label, value: OLD }];
    const { page } = await openItem([{ title: "Long", fields }], { width: 390, height: 780 });
    await press(page, /^Copy Long/);
    expect((await page.getByText(/^Long name .*… copied/).boundingBox())!.height).toBeLessThan(200);
    await press(page, /^More actions for Long/, "Rotate");
    const dialog = dialogOf(page, /… rotated$/);
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
