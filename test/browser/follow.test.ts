import { describe, expect, it } from "vitest";
import { admin, sendRequest } from "../sdk/support/requests.ts";
import { injectFault } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { login, makeItems, seed } from "./support/seed.ts";

/** The list and the open Item follow what others write, without a reload of the page. */

describe("while the page is open, another client's", () => {
  it("new Item appears in the list, a deleted one leaves it, and a change is shown in the open Item", async () => {
    const { vault, token, items } = await seed([login("Open", { username: "first-name" }), login("Leaves")]);
    const page = await openPage({ token });
    expectProblem(page, /404/);
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    const article = page.locator("article");
    await article.getByText("first-name").waitFor();
    await makeItems(token, vault, [login("Arrives")]);
    await page.locator(".rows").getByRole("link", { name: "Arrives" }).waitFor();
    await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[1]}`, token);
    await expect.poll(() => page.locator(".rows").getByRole("link", { name: "Leaves" }).count()).toBe(0);
    const change = [{ op: "replace", path: "/fields/username/value", value: "second-name" }];
    await sendRequest("PATCH", `v1/vaults/${vault}/items/${items[0]}`, token, change);
    await article.getByText("second-name").waitFor();
    await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[0]}`, token);
    await page.getByText("This item was deleted.").waitFor();
  });

  it("deletion of the vault of the open Item hides its values", async () => {
    const { vault, token, items } = await seed([login("Open", { username: "shown-name" })]);
    const page = await openPage({ token });
    expectProblem(page, /404/);
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await page.locator("article").getByText("shown-name").waitFor();
    await page.locator(".rows").getByRole("link", { name: "Open" }).waitFor();
    await admin("DELETE", `vaults/${vault}`);
    await page.getByText("This vault doesn’t exist, or you don’t have access to it.").waitFor();
    expect(await page.getByText("shown-name").count()).toBe(0);
  });

  it("write appears although its load has failed, without a later write", async () => {
    const { vault, token } = await seed([login("Before")]);
    const page = await openPage({ token });
    expectProblem(page, /503/);
    await page.goto("/console/");
    await page.locator(".rows").getByRole("link", { name: "Before" }).waitFor();
    const list = await injectFault(page, "GET", "/v1/vaults/*/items", { status: 503, kind: "unavailable" });
    await makeItems(token, vault, [login("Arrives")]);
    await expect.poll(() => list.requests.length, { timeout: 120_000 }).toBe(3); // all attempts of the first load
    list.end();
    await page.locator(".rows").getByRole("link", { name: "Arrives" }).waitFor();
  });

  it("value that takes the place of a revealed one is not revealed, not even for a moment", async () => {
    const { vault, token, items } = await seed([login("Revealed", { password: "first-value" })]);
    const page = await openPage({ token });
    await page.goto(`/console/#/items/${vault}/${items[0]}`);
    await page.getByRole("button", { name: "Reveal password" }).click();
    await page.getByText("first-value").waitFor();
    await page.evaluate(
      `new MutationObserver(() => document.body.textContent.includes("second-value") && (document.title = "revealed"))
        .observe(document.body, { childList: true, characterData: true, subtree: true })`,
    );
    const change = [{ op: "replace", path: "/fields/password/value", value: "second-value" }];
    await sendRequest("PATCH", `v1/vaults/${vault}/items/${items[0]}`, token, change);
    await page.getByText("version 2").waitFor();
    expect(await page.title()).not.toBe("revealed");
    expect(await page.getByText("first-value").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Reveal password" }).getAttribute("aria-pressed")).toBe("false");
  });

  it("change to the Item that is being edited leaves what was typed, and saving shows the conflict", async () => {
    const { vault, token, items } = await seed([login("Edited")]);
    const page = await openPage({ token });
    expectProblem(page, /412/);
    await page.goto(`/console/#/items/${vault}/${items[0]}/edit`);
    const title = page.getByRole("textbox", { name: "Title" });
    await title.fill("Typed");
    await sendRequest("PATCH", `v1/vaults/${vault}/items/${items[0]}`, token, [
      { op: "replace", path: "/title", value: "Theirs" },
    ]);
    await page.locator(".rows").getByRole("link", { name: "Theirs" }).waitFor();
    expect(await title.inputValue()).toBe("Typed");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: /changed/i }).waitFor();
  });
});

it("a change while the page asks whether to delete the Item is not deleted with it", async () => {
  const { vault, token, items } = await seed([login("Kept")]);
  const page = await openPage({ token });
  expectProblem(page, /412/);
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByRole("button", { name: "More actions", exact: true }).click();
  await page.getByRole("button", { name: "Delete…", exact: true }).click();
  await page.getByRole("dialog").waitFor();
  const change = [{ op: "replace", path: "/title", value: "Theirs" }];
  await sendRequest("PATCH", `v1/vaults/${vault}/items/${items[0]}`, token, change);
  await page.locator("article h1", { hasText: "Theirs" }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Someone else changed this item.").waitFor();
  await page.locator(".rows").getByRole("link", { name: "Theirs" }).waitFor();
});
