import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { admin, makeToken, sendRequest } from "../sdk/support/requests.ts";
import {
  button,
  dialogOf,
  endedDialog,
  endSession,
  heading,
  link,
  listed,
  openItem,
  press,
  saveTitle,
  see,
  type Shown,
  shown,
  signInAgain,
  titleField,
} from "./support/console.ts";
import { injectFault, revokeToken, stopFollowing } from "./support/faults.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems, type NewItem, seed, type Seeded } from "./support/seed.ts";
import { sessionCookie, signInLink, signOut } from "./support/session.ts";
import { sharePage } from "./support/shared-page.ts";

/** What people have typed is not lost, and is written where and as they typed it; what is open is shown to nobody else. */

const PATH = "/v1/vaults/*/items/*";
const goTo = (page: Page, hash: string) => page.evaluate((to) => (location.hash = to), hash);

/** The tests that do not end their session share a vault and a page. */
let team: Seeded;
beforeAll(async () => {
  team = await seed();
});
const openShared = sharePage(async () => ({ token: team.token }));

/** Opens the first Item, or its form, on the page that the tests share. */
async function openHere(tab: string, ...items: readonly NewItem[]): Promise<Shown> {
  const page = await openShared();
  const opened = shown(page, { ...team, items: await makeItems(team.token, team.vault, items) });
  await page.goto(opened.address + tab);
  await (tab === "/edit" ? titleField(page) : heading(page, items[0]!.title)).waitFor();
  return opened;
}

describe("a form", () => {
  it("keeps what was typed when the answer to a write of another Item arrives", async () => {
    const { page, vault, items, patch, address } = await openHere("", login("First"), login("Second"));
    await patch({ "/title": "First again" });
    await page.goto(`${address}/history`);
    await press(page, /^Version 1/);
    const held = await injectFault(page, "POST", `${PATH}/versions/1/restore`, "held");
    await press(page, "Restore version 1");
    await goTo(page, `#/items/${vault}/${items[1]}/edit`);
    await titleField(page).fill("Typed");
    held.end();
    await see(page, "Version 1 restored");
    expect(await titleField(page).inputValue()).toBe("Typed");
    expect(await dialogOf(page).count()).toBe(0);
  });

  it("keeps what was typed when the Item is loaded again", async () => {
    const { page, remove } = await openHere("", login("Gone"));
    expectProblem(page, /404/);
    const held = await injectFault(page, "PATCH", PATH, "held");
    await press(page, "Favorite");
    await link(page, "Edit").click();
    await titleField(page).fill("Typed");
    await remove();
    held.end();
    await see(page, "This item was deleted");
    expect(await titleField(page).inputValue()).toBe("Typed");
  });

  it("that is saved slowly does not take the user away from the form of another Item", async () => {
    const { page, vault, items } = await openHere("/edit", login("First"), login("Second"));
    const held = await injectFault(page, "PATCH", PATH, "held");
    await saveTitle(page, "First changed");
    await goTo(page, `#/items/${vault}/${items[1]}/edit`);
    await press(page, "Discard changes");
    await heading(page, "Edit Second").waitFor();
    held.end();
    await see(page, "Saved");
    expect(page.url()).toContain(`${items[1]}/edit`);
  });

  it("saves a tag that is still being typed, with the keys for Save", async () => {
    const { page, load } = await openHere("/edit", login("Tagged"));
    await page.getByLabel("Add tag").fill("typed");
    await page.keyboard.press("Control+s");
    await heading(page, "Tagged").waitFor();
    expect((await load()).tags).toEqual(["typed"]);
  });

  it("keeps the lines of a text that is pasted into a field of one line", async () => {
    const { page, load } = await openHere("/edit", login("Pasted", { password: "" }));
    const key = "-----BEGIN KEY-----\nabc\n-----END KEY-----\n";
    await page.evaluate((text) => navigator.clipboard.writeText(text), key);
    await page.getByLabel("password", { exact: true }).press("Control+v");
    await press(page, "Save");
    await heading(page, "Pasted").waitFor();
    expect((await load()).fields[1]!.value).toBe(key);
  });

  it("asks nothing when only what it does not show has changed in the meantime", async () => {
    const { page, path, token, load } = await openHere("/edit", login("With a File"));
    expectProblem(page, /412/);
    await sendRequest("POST", `${path}/files?name=a.txt`, token, new Uint8Array([65]));
    await saveTitle(page, "Typed");
    await heading(page, "Typed").waitFor();
    expect((await load()).title).toBe("Typed");
  });
});

it("a second attempt after a lost answer finds a deleted Item that is restored already", async () => {
  const { page, vault, items, remove } = await openHere("", login("Back"));
  await remove();
  for (const problem of [/ERR_CONNECTION_RESET/, /404/]) expectProblem(page, problem);
  await page.goto(`/console/#/deleted/${vault}/${items[0]}`);
  const lost = await injectFault(page, "POST", "/v1/vaults/*/deleted-items/*/restore", "lost");
  await press(page, "Restore");
  await see(page, "The service did not answer");
  lost.end();
  await press(page, "Restore");
  await heading(page, "Back").waitFor();
  await page.waitForURL((url) => url.hash.startsWith("#/items/"));
});

/** Opens the form of an Item on a page of its own, and types a title. */
async function type(title: string): Promise<Shown> {
  const opened = await openItem([login(title)], { tab: "edit", before: stopFollowing });
  await titleField(opened.page).fill("Typed");
  return opened;
}

describe("a session that has ended", () => {
  it("asks to sign in until somebody does, however often Escape is pressed, and then saves what was typed", async () => {
    const { page, token, load } = await type("Kept");
    expectProblem(page, /401/);
    await endSession(page);
    await press(page, "Save");
    for (let presses = 0; presses < 3; presses++) {
      await endedDialog(page).waitFor();
      await page.keyboard.press("Escape");
    }
    await signInAgain(page, token);
    await see(page, "You are signed in again");
    expect(await titleField(page).inputValue()).toBe("Typed");
    await press(page, "Save");
    await heading(page, "Typed").waitFor();
    expect((await load()).title).toBe("Typed");
  });

  it("shows nothing that was open, neither before nor after somebody else has signed in", async () => {
    const { page } = await openItem([login("Of the first person", { username: "first-person" })], { before: stopFollowing });
    const theirs = await seed([login("Of the second person")], { name: "Other" });
    expectProblem(page, /401/);
    const open = page.locator("article").getByText("first-person");
    await open.waitFor();
    await endSession(page);
    await press(page, "Favorite");
    await endedDialog(page).waitFor();
    expect(await open.isVisible()).toBe(false);
    await signInAgain(page, theirs.token);
    await press(page, "Continue");
    await listed(page, "Of the second person").waitFor();
    expect(await page.content()).not.toMatch(/first.person/);
  });

  it("loads what could not be loaded after the next sign-in", async () => {
    const { page, token } = await openItem([{ title: "Mine" }], { before: stopFollowing });
    expectProblem(page, /401/);
    await page.goto("/console/#/items");
    await endSession(page);
    await listed(page, "Mine").click();
    await signInAgain(page, token);
    await press(page, "Try again");
    await heading(page, "Mine").waitFor();
  });

  it("asks after the next sign-in whether to leave a form that Back would leave", async () => {
    const { page, token, address } = await openItem([login("Open")]);
    await link(page, "Edit").click();
    await titleField(page).fill("Typed");
    await page.context().clearCookies();
    await page.evaluate(`new BroadcastChannel("item-vault-session").postMessage("changed")`);
    await endedDialog(page).waitFor();
    await page.goBack();
    await signInAgain(page, token);
    await dialogOf(page, "Leave without saving?").getByRole("button").first().click();
    expect(await titleField(page).inputValue()).toBe("Typed");
    expect(page.url()).toContain(`${address}/edit`);
  });

  it("keeps what was typed when a token of the same name and vaults takes the place of a revoked one", async () => {
    const { page, vault, tokenId } = await type("Replaced");
    expectProblem(page, /401/);
    await revokeToken(tokenId);
    await press(page, "Save");
    await signInAgain(page, (await makeToken({ [vault]: "rwd" }, "uuid")).token);
    await endedDialog(page).waitFor({ state: "detached" });
    expect(await titleField(page).inputValue()).toBe("Typed");
    await press(page, "Save");
    await heading(page, "Typed").waitFor();
  });

  it("does not give what was typed to a token of the same name that was entered in another tab, or that opens less", async () => {
    const { page, vault, path, tokenId } = await type("Equally named");
    await revokeToken(tokenId);
    const [equal, less] = [await makeToken({ [vault]: "rwd" }, "uuid"), await makeToken({ [vault]: "r" }, "uuid")];
    await page.context().addCookies([await sessionCookie({ token: equal.token })]);
    await page.evaluate("new BroadcastChannel('item-vault-session').postMessage('changed')");
    await button(endedDialog(page), "Continue").waitFor();
    // A key of somebody who is typing does not press the button that drops what was typed.
    expect(await page.evaluate("document.activeElement.name")).toBe("token");
    expect(await titleField(page).isVisible()).toBe(false);
    const answered = page.waitForResponse((response) => response.request().method() === "POST");
    await signInAgain(page, less.token);
    await answered;
    await expect.poll(() => endedDialog(page).getByLabel("Token").inputValue()).toBe("");
    expect(await titleField(page).isVisible()).toBe(false);
    expect(await sendRequest("GET", path, equal.token)).toMatchObject({ title: "Equally named" });
  });

  it("keeps what was typed until who typed it signs in again, and writes it for nobody else", async () => {
    const { page, vault, token, tokenId, load } = await type("Typed by one");
    expectProblem(page, /401/);
    const other = await admin("POST", "tokens", { name: "another", vaults: { [vault]: "rw" } });
    await endSession(page);
    await press(page, "Save");
    await signInAgain(page, other.token);
    await button(page, "Continue").waitFor();
    expect(await titleField(page).isVisible()).toBe(false);
    await signInAgain(page, token);
    await endedDialog(page).waitFor({ state: "detached" });
    await press(page, "Save");
    await heading(page, "Typed").waitFor();
    expect((await load()).lastEditedBy).toBe(tokenId);
  });

  it("is noticed at the time at which it ends, without a request of the user", async () => {
    const { page } = await openItem([login("Open")], { fresh: true, before: (opened) => opened.clock.install() });
    await page.context().clearCookies();
    await page.clock.fastForward(12 * 60 * 60 * 1000);
    await endedDialog(page).waitFor();
    expect(await heading(page, "Open").isVisible()).toBe(false);
  });
});

describe("another tab", () => {
  it("hides what is open when the session is ended, and shows it again to the same person", async () => {
    const { page, token } = await openItem([login("Open", { username: "shown-name" })]);
    const open = page.locator("article").getByText("shown-name");
    await open.waitFor();
    const other = await page.context().newPage();
    await other.goto("/console/");
    await signOut(other);
    await endedDialog(page).waitFor();
    expect(await open.isVisible()).toBe(false);
    await other.getByLabel("Token").fill(token);
    await other.keyboard.press("Enter");
    await open.waitFor();
    expect(await dialogOf(page).count()).toBe(0);
  });

  it("does not write as somebody else who has signed in there", async () => {
    const { page } = await openItem([login("Mine")], { tab: "edit" });
    await titleField(page).fill("Typed");
    const other = await page.context().newPage();
    await other.goto(await signInLink((await seed([login("Theirs")])).token));
    await press(other, "Use the link");
    await see(page, "what was typed in it will be lost when you continue");
    await press(page, "Continue");
    await listed(page, "Theirs").waitFor();
    expect(await page.content()).not.toContain("Mine");
  });

  it("does not lose the session that a sign-in there has made by an answer from before it", async () => {
    let listsLoaded: Promise<unknown> = Promise.resolve();
    const { page, token } = await openItem([login("Open")], {
      tab: "edit",
      async before(opened) {
        await stopFollowing(opened);
        listsLoaded = opened.waitForRequest("**/v1/events?*"); // sent when all lists are loaded; the test sends all later requests
      },
    });
    expectProblem(page, /401/);
    await titleField(page).fill("Typed");
    await listsLoaded;
    await page.context().clearCookies();
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let held = false;
    await page.route("**/console/session", async (route) => {
      if (held) return route.continue();
      held = true;
      asked.resolve();
      await answered.promise;
      return route.fulfill({ status: 401, json: { status: 401, message: "Invalid token" } }); // as without a cookie
    });
    await press(page, "Save");
    await asked.promise;
    const other = await page.context().newPage();
    const checked = page.waitForResponse((response) => response.url().endsWith("/console/session") && response.ok());
    await other.goto(await signInLink(token));
    await checked;
    answered.resolve();
    await see(page, "You are signed in again");
    expect(await dialogOf(page).count()).toBe(0);
  });
});
