import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { admin, makeToken, sendRequest } from "../sdk/support/requests.ts";
import { injectFault, revokeToken, stopFollowing } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems, type NewItem, type Seeded, seed } from "./support/seed.ts";
import { sessionCookie } from "./support/session.ts";
import { sharePage } from "./support/shared-page.ts";

/** What people have typed is not lost, and is written where and as they typed it. */

const PATH = "/v1/vaults/*/items/*";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const title = (page: Page) => page.getByRole("textbox", { name: "Title" });
const rows = (page: Page) => page.getByRole("list", { name: "Items" }).getByRole("link");
const endSession = (page: Page) =>
  page.evaluate(`fetch("/console/session", { method: "DELETE", headers: { "Item-Vault-Console": "1" } })`);

interface Stored {
  readonly title: string;
  readonly version: number;
  readonly tags: readonly string[];
  readonly fields: readonly { readonly value: string; readonly type: string }[];
}
const stored = async ({ vault, items, token }: Seeded, index = 0) =>
  (await sendRequest("GET", `v1/vaults/${vault}/items/${items[index]}`, token)) as Stored;

/** The tests that do not end their session share a vault and a page. */
let team: Seeded;
beforeAll(async () => {
  team = await seed();
});
const openShared = sharePage(async () => ({ token: team.token }));
const seedShared = async (...items: readonly NewItem[]): Promise<Seeded> => ({
  ...team,
  items: await makeItems(team.token, team.vault, items),
});

/** Opens the form of the first Item. */
async function openForm(seeded: Seeded): Promise<Page> {
  const shared = seeded.vault === team.vault;
  const page = await (shared ? openShared() : openPage({ token: seeded.token }));
  if (!shared) await stopFollowing(page);
  await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}/edit`);
  await title(page).waitFor();
  return page;
}

/** Types a title and saves it after the session has ended. Out: the page, and its dialog that asks to sign in. */
async function saveAfterSession(seeded: Seeded) {
  const page = await openForm(seeded);
  expectProblem(page, /401/);
  await title(page).fill("Typed");
  await endSession(page);
  await button(page, "Save").click();
  return { page, dialog: page.getByRole("dialog", { name: "Your session has ended" }) };
}

describe("a form", () => {
  it("keeps what was typed when the answer to a write of another Item arrives", async () => {
    const seeded = await seedShared(login("First"), login("Second"));
    const path = `v1/vaults/${seeded.vault}/items/${seeded.items[0]}`;
    await sendRequest("PATCH", path, seeded.token, [{ op: "replace", path: "/title", value: "First again" }]);
    const page = await openShared();
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}/history`);
    await page.getByRole("button", { name: "Version 1" }).click();
    const held = await injectFault(page, "POST", `${PATH}/versions/1/restore`, "held");
    await button(page, "Restore version 1").click();
    await page.evaluate((hash) => (location.hash = hash), `#/items/${seeded.vault}/${seeded.items[1]}/edit`);
    await title(page).fill("Typed");
    held.end();
    await page.getByText("Version 1 restored").waitFor();
    expect(await title(page).inputValue()).toBe("Typed");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  it("keeps what was typed when the Item is loaded again", async () => {
    const seeded = await seedShared(login("Gone"));
    const page = await openShared();
    expectProblem(page, /404/);
    await page.goto(`/console/#/items/${seeded.vault}/${seeded.items[0]}`);
    const held = await injectFault(page, "PATCH", PATH, "held");
    await button(page, "Favorite").click();
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await title(page).fill("Typed");
    await sendRequest("DELETE", `v1/vaults/${seeded.vault}/items/${seeded.items[0]}`, seeded.token);
    held.end();
    await page.getByText("This item was deleted").waitFor();
    expect(await title(page).inputValue()).toBe("Typed");
  });

  it("that is saved slowly does not take the user away from the form of another Item", async () => {
    const seeded = await seedShared(login("First"), login("Second"));
    const page = await openForm(seeded);
    const held = await injectFault(page, "PATCH", PATH, "held");
    await title(page).fill("First changed");
    await button(page, "Save").click();
    await page.evaluate((hash) => (location.hash = hash), `#/items/${seeded.vault}/${seeded.items[1]}/edit`);
    await button(page, "Discard changes").click();
    await page.getByRole("heading", { name: "Edit Second" }).waitFor();
    held.end();
    await page.getByText("Saved").waitFor();
    expect(page.url()).toContain(`${seeded.items[1]}/edit`);
  });

  it("saves a tag that is still being typed, with the keys for Save", async () => {
    const seeded = await seedShared(login("Tagged"));
    const page = await openForm(seeded);
    await page.getByLabel("Add tag").fill("typed");
    await page.keyboard.press("Control+s");
    await page.getByRole("heading", { name: "Tagged", exact: true }).waitFor();
    expect((await stored(seeded)).tags).toEqual(["typed"]);
  });

  it("keeps the lines of a text that is pasted into a field of one line", async () => {
    const seeded = await seedShared(login("Pasted", { password: "" }));
    const page = await openForm(seeded);
    const key = "-----BEGIN KEY-----\nabc\n-----END KEY-----\n";
    await page.evaluate((text) => navigator.clipboard.writeText(text), key);
    await page.getByLabel("password", { exact: true }).focus();
    await page.keyboard.press("Control+v");
    await button(page, "Save").click();
    await page.getByRole("heading", { name: "Pasted", exact: true }).waitFor();
    expect((await stored(seeded)).fields[1]!.value).toBe(key);
  });

  it("asks nothing when only what it does not show has changed in the meantime", async () => {
    const seeded = await seedShared(login("With a File"));
    const page = await openForm(seeded);
    expectProblem(page, /412/);
    const path = `v1/vaults/${seeded.vault}/items/${seeded.items[0]}`;
    await sendRequest("POST", `${path}/files?name=a.txt`, seeded.token, new Uint8Array([65]));
    await title(page).fill("Typed");
    await button(page, "Save").click();
    await page.getByRole("heading", { name: "Typed", exact: true }).waitFor();
    expect((await stored(seeded)).title).toBe("Typed");
  });
});

describe("a session that has ended", () => {
  it("asks to sign in until somebody does, however often Escape is pressed", async () => {
    const seeded = await seed([login("Kept")]);
    const { page, dialog } = await saveAfterSession(seeded);
    for (let presses = 0; presses < 3; presses++) {
      await dialog.waitFor();
      await page.keyboard.press("Escape");
    }
    await dialog.getByLabel("Token").fill(seeded.token);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await title(page).inputValue()).toBe("Typed");
  });

  it("shows nothing that was open, neither before nor after somebody else has signed in", async () => {
    const mine = await seed([login("Of the first person", { username: "first-person" })]);
    const theirs = await seed([login("Of the second person")], { name: "Other" });
    const page = await openPage({ token: mine.token });
    expectProblem(page, /401/);
    await stopFollowing(page);
    await page.goto(`/console/#/items/${mine.vault}/${mine.items[0]}`);
    await page.locator("article").getByText("first-person").waitFor();
    await endSession(page);
    await button(page, "Favorite").click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    expect(await page.locator("article").getByText("first-person").isVisible()).toBe(false);
    await dialog.getByLabel("Token").fill(theirs.token);
    await page.keyboard.press("Enter");
    await button(page, "Continue").click();
    await rows(page).getByText("Of the second person").waitFor();
    expect(await page.content()).not.toMatch(/first.person/);
  });

  it("keeps what was typed when a token of the same name and vaults takes the place of a revoked one", async () => {
    const { vault, items, token, tokenId } = await seed([login("Replaced")]);
    const page = await openPage({ token });
    expectProblem(page, /401/);
    await stopFollowing(page);
    await page.goto(`/console/#/items/${vault}/${items[0]}/edit`);
    await page.getByLabel("Title").fill("Typed before");
    await revokeToken(tokenId);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByLabel("Token").fill((await makeToken({ [vault]: "rwd" }, "uuid")).token);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByLabel("Title").inputValue()).toBe("Typed before");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { name: "Typed before" }).waitFor();
  });

  it("does not give what was typed to a token of the same name that was entered in another tab, or that opens less", async () => {
    const { vault, items, token, tokenId } = await seed([login("Equally named")]);
    const page = await openPage({ token });
    await stopFollowing(page);
    await page.goto(`/console/#/items/${vault}/${items[0]}/edit`);
    await title(page).fill("Typed by one");
    await revokeToken(tokenId);
    const [equal, less] = [await makeToken({ [vault]: "rwd" }, "uuid"), await makeToken({ [vault]: "r" }, "uuid")];
    await page.context().addCookies([await sessionCookie({ token: equal.token })]);
    await page.evaluate("new BroadcastChannel('item-vault-session').postMessage('changed')");
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByRole("button", { name: "Continue" }).waitFor();
    // A key of somebody who is typing does not press the button that drops what was typed.
    expect(await page.evaluate("document.activeElement.name")).toBe("token");
    expect(await title(page).isVisible()).toBe(false);
    await dialog.getByLabel("Token").fill(less.token);
    const answered = page.waitForResponse((response) => response.request().method() === "POST");
    await page.keyboard.press("Enter");
    await answered;
    await expect.poll(() => dialog.getByLabel("Token").inputValue()).toBe("");
    expect(await title(page).isVisible()).toBe(false);
    const after = (await sendRequest("GET", `v1/vaults/${vault}/items/${items[0]}`, equal.token)) as Stored;
    expect(after.title).toBe("Equally named");
  });

  it("keeps what was typed until who typed it signs in again, and writes it for nobody else", async () => {
    const seeded = await seed([login("Typed by one")]);
    const { token: other } = await admin("POST", "tokens", { name: "another", vaults: { [seeded.vault]: "rw" } });
    const { page, dialog } = await saveAfterSession(seeded);
    await dialog.getByLabel("Token").fill(other);
    await page.keyboard.press("Enter");
    await button(page, "Continue").waitFor();
    expect(await title(page).isVisible()).toBe(false);
    await dialog.getByLabel("Token").fill(seeded.token);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await button(page, "Save").click();
    await page.getByRole("heading", { name: "Typed", exact: true }).waitFor();
    const { items, vault, token, tokenId } = seeded;
    const item = (await sendRequest("GET", `v1/vaults/${vault}/items/${items[0]}`, token)) as { lastEditedBy: string };
    expect(item.lastEditedBy).toBe(tokenId);
  });
});

describe("a second attempt after a lost answer", () => {
  it("finds a deleted Item that is restored already", async () => {
    const seeded = await seedShared(login("Back"));
    await sendRequest("DELETE", `v1/vaults/${seeded.vault}/items/${seeded.items[0]}`, seeded.token);
    const page = await openShared();
    expectProblem(page, /ERR_CONNECTION_RESET/);
    expectProblem(page, /404/);
    await page.goto(`/console/#/deleted/${seeded.vault}/${seeded.items[0]}`);
    const lost = await injectFault(page, "POST", "/v1/vaults/*/deleted-items/*/restore", "lost");
    await button(page, "Restore").click();
    await page.getByText("The service did not answer").waitFor();
    lost.end();
    await button(page, "Restore").click();
    await page.getByRole("heading", { name: "Back", exact: true }).waitFor();
    await page.waitForURL((url) => url.hash.startsWith("#/items/"));
  });
});
