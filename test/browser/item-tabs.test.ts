import { expect, it } from "vitest";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { openPage } from "./support/page.ts";
import { login, seed } from "./support/seed.ts";

/** The tabs of an Item. */

it("the tabs of an Item are reached by the arrow keys, opened by Enter and Space, and named by the address", async () => {
  const { vault, token, items } = await seed([login("Grafana")]);
  const page = await openPage({ token });
  const address = `/console/#/items/${vault}/${items[0]}`;
  await page.goto(address);
  const details = page.getByRole("tab", { name: "Details" });
  const history = page.getByRole("tab", { name: "History" });
  await details.focus();
  await page.keyboard.press("ArrowRight");
  expect(await details.getAttribute("aria-selected")).toBe("true");
  await page.keyboard.press("Enter");
  await page.getByRole("tabpanel", { name: "History" }).getByText("Version 1").waitFor();
  expect(page.url()).toMatch(new RegExp(`/#/items/${vault}/${items[0]}/history$`));
  expect(await checkLooks(page)).toBe("");
  await page.keyboard.press("Home");
  await page.keyboard.press(" ");
  await page.getByRole("tabpanel", { name: "Details" }).getByText("username").waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => details.evaluate((tab) => tab === document.activeElement)).toBe(true);
  await page.goBack();
  await expect.poll(() => history.getAttribute("aria-selected")).toBe("true");
});

it("Use has lines for the chosen field to copy, and never its value", async () => {
  const { vault, token, items } = await seed([login("Graf: 'ana'", { password: "kept-secret", username: "kept-name" })]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}/use`);
  const lines = page.getByRole("region", { name: "Command line" }).locator("code");
  await expect.poll(() => lines.innerText()).toBe(`item-vault read 'op://Team/${items[0]}/password'`);
  await page.getByRole("region", { name: "Terraform" }).getByText("Values land in the state").waitFor();
  expect(await page.getByRole("region", { name: /External/ }).innerText()).toContain(`key: "Graf: 'ana'"`);
  expect(await page.evaluate<string>("document.documentElement.outerHTML")).not.toMatch(/kept-/);
  expect(await checkLooks(page)).toBe("");
  await page.getByLabel("Field or file").selectOption("username");
  await page.getByRole("button", { name: "Copy Reference" }).click();
  await expect.poll(() => readClipboard(page)).toBe(`op://Team/${items[0]}/username`);
});
