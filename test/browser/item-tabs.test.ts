import { expect, it } from "vitest";
import { checkLooks } from "./support/accessibility.ts";
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
