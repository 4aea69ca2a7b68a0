import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import {
  button,
  choose,
  focused,
  heading,
  press,
  saveTitle,
  see,
  type Shown,
  shown,
  titlesOf,
  toast,
} from "./support/console.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems } from "./support/seed.ts";

/** The message of a write undoes it. */

/** Opens an Item of one vault in a session with two. */
async function openItem(title: string): Promise<Shown & { readonly other: string }> {
  const [vault, other] = [await makeVault("Team"), await makeVault("Other")];
  const { token, id } = await makeToken({ [vault]: "rwd", [other]: "rwd" }, "uuid");
  const page = await openPage({ token });
  const opened = shown(page, { vault, token, tokenId: id, items: await makeItems(token, vault, [login(title)]) });
  await page.goto(opened.address);
  await heading(page, title).waitFor();
  return { ...opened, other };
}

const edit = async (page: Page, title: string): Promise<void> => {
  await page.getByRole("link", { name: "Edit" }).click();
  await saveTitle(page, title);
  await heading(page, title).waitFor();
};

describe("a message undoes", () => {
  it.each<readonly [string, (page: Page) => Promise<void>, string, object]>([
    ["a favorite", (page) => press(page, "Favorite"), "Removed from favorites", { favorite: false }],
    ["archiving", (page) => press(page, "More actions", "Archive"), "Unarchived", { version: 3 }],
    ["a deletion", (page) => choose(page, "Delete…", "Delete"), "Restored", { title: "Before" }],
    ["an edit, by the version before", (page) => edit(page, "After"), "Undone", { title: "Before", version: 3 }],
  ])("%s", async (_, act, message, after) => {
    const { page, load, titles } = await openItem("Before");
    await act(page);
    await press(page, "Undo");
    await toast(page, message).waitFor();
    await heading(page, "Before").waitFor();
    const item = await load();
    expect([item, item.state, await titles()]).toEqual([expect.objectContaining(after), undefined, ["Before"]]);
  });

  it("with the focus in the Item afterwards, wide and on a phone", async () => {
    const { page } = await openItem("Before");
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 780 });
      await press(page, "Favorite");
      await toast(page, "Added to favorites").waitFor(); // The message before it has an Undo too.
      await button(page, "Undo").press("Enter");
      await toast(page, "Removed from favorites").waitFor();
      expect([width, await focused(page)]).toEqual([width, "Before"]);
    }
  });

  it("a move, and leaves no copy, not even a deleted one", async () => {
    const { page, token, vault, other, titles } = await openItem("Moved");
    await choose(page, "Move or copy…", "Move");
    await toast(page, "Moved").waitFor();
    await press(page, "Undo");
    await toast(page, "Moved back").waitFor();
    expect([await titles(), await titlesOf(token, other)]).toEqual([["Moved"], []]);
    expect(await sendRequest("GET", `v1/vaults/${other}/deleted-items`, token)).toEqual([]);
    expect(page.url()).toContain(vault);
  });

  it("no edit after which somebody else has written", async () => {
    const { page, load, patch } = await openItem("Before");
    expectProblem(page, /412/);
    await edit(page, "Mine");
    await patch({ "/title": "Theirs" });
    await press(page, "Undo");
    await see(page, "Someone else changed this item.");
    expect((await load()).title).toBe("Theirs");
  });

  it("nothing after a save that has changed nothing", async () => {
    const { page, patch } = await openItem("Mine");
    await patch({ "/title": "Theirs" });
    await heading(page, "Theirs").waitFor();
    await page.getByRole("link", { name: "Edit" }).click();
    await press(page, "Save");
    await toast(page, "Saved").waitFor();
    expect(await button(page, "Undo").count()).toBe(0);
  });
});
