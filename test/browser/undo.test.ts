import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems } from "./support/seed.ts";

/** The message of a write undoes it. */

const titles = async (token: string, vault: string): Promise<string[]> =>
  ((await sendRequest("GET", `v1/vaults/${vault}/items`, token)) as { title: string }[]).map(({ title }) => title);

async function openItem(title: string) {
  const [vault, other] = [await makeVault("Team"), await makeVault("Other")];
  const { token } = await makeToken({ [vault]: "rw", [other]: "rw" }, "uuid");
  const [item] = await makeItems(token, vault, [login(title)]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${item}`);
  await page.getByRole("heading", { name: title }).waitFor();
  const load = async () => (await sendRequest("GET", `v1/vaults/${vault}/items/${item}`, token)) as Record<string, unknown>;
  return { page, token, vault, other, item: item!, load };
}

const more = async (page: Page, action: string): Promise<void> => {
  await page.getByRole("button", { name: "More actions", exact: true }).click();
  await page.getByRole("button", { name: action, exact: true }).click();
};
const undo = (page: Page) => page.getByRole("button", { name: "Undo" }).click();

describe("a message undoes", () => {
  it("a favorite", async () => {
    const { page, load } = await openItem("Starred");
    await page.getByRole("button", { name: "Favorite" }).click();
    await undo(page);
    await page.getByText("Removed from favorites").waitFor();
    expect((await load())["favorite"]).toBe(false);
  });

  it("archiving", async () => {
    const { page, load } = await openItem("Put away");
    await more(page, "Archive");
    await undo(page);
    await page.locator(".toast", { hasText: "Unarchived" }).waitFor();
    expect((await load())["state"]).toBeUndefined();
  });

  it("a deletion, and shows the Item again", async () => {
    const { page, token, vault } = await openItem("Deleted");
    await more(page, "Delete…");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await undo(page);
    await page.getByRole("heading", { name: "Deleted" }).waitFor();
    expect(await titles(token, vault)).toEqual(["Deleted"]);
  });

  it("a move, and leaves no copy", async () => {
    const { page, token, vault, other } = await openItem("Moved");
    await more(page, "Move or copy…");
    await page.getByRole("dialog").getByRole("button", { name: "Move", exact: true }).click();
    await page.locator(".toast", { hasText: "Moved" }).waitFor();
    await undo(page);
    await page.locator(".toast", { hasText: "Moved back" }).waitFor();
    expect([await titles(token, vault), await titles(token, other)]).toEqual([["Moved"], []]);
    expect(page.url()).toContain(vault);
  });

  it("an edit, by the version before", async () => {
    const { page, load } = await openItem("Before");
    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByLabel("Title").fill("After");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "After" }).waitFor();
    await undo(page);
    await page.getByRole("heading", { name: "Before" }).waitFor();
    expect(await load()).toMatchObject({ title: "Before", version: 3 });
  });

  it("no edit after which somebody else has written", async () => {
    const { page, load, token, vault, item } = await openItem("Before");
    expectProblem(page, /412/);
    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByLabel("Title").fill("Mine");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Mine" }).waitFor();
    await sendRequest("PATCH", `v1/vaults/${vault}/items/${item}`, token, [{ op: "replace", path: "/title", value: "Theirs" }]);
    await undo(page);
    await page.getByText("Someone else changed this item.").waitFor();
    expect((await load())["title"]).toBe("Theirs");
  });

  it("nothing after a save that has changed nothing", async () => {
    const { page, token, vault, item } = await openItem("Mine");
    await sendRequest("PATCH", `v1/vaults/${vault}/items/${item}`, token, [{ op: "replace", path: "/title", value: "Theirs" }]);
    await page.getByRole("heading", { name: "Theirs" }).waitFor();
    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".toast", { hasText: "Saved" }).waitFor();
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
  });
});
