import { expect, inject, it } from "vitest";
import { admin, makeToken, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { openPage } from "./support/page.ts";
import { login, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

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
  const { vault, token, items } = await seed([login("Graf: 'ana'", { password: "kept-secret" })]);
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}/use`);
  const lines = page.getByRole("region", { name: "Command line" }).locator("code");
  await expect.poll(() => lines.innerText()).toBe(`item-vault read 'op://Team/${items[0]}/password'`);
  await page.getByRole("region", { name: "Terraform" }).getByText("Values land in the state").waitFor();
  expect(await page.getByRole("region", { name: /External/ }).innerText()).toContain(`key: "Graf: 'ana'"`);
  expect(await page.evaluate<string>("document.documentElement.outerHTML")).not.toContain("kept-secret");
  expect(await checkLooks(page)).toBe("");
  await page.getByLabel("Field or file").selectOption("username");
  await page.getByRole("button", { name: "Copy Reference" }).click();
  await expect.poll(() => readClipboard(page)).toBe(`op://Team/${items[0]}/username`);
});

it("Activity says who else has read the Item last, and asks for it only when it is opened", async () => {
  const { vault, token, items } = await seed([login("Grafana"), login("Other")]);
  const path = `v1/vaults/${vault}/items/${items[0]}`;
  const reader = await makeToken({ [vault]: "r" }, "uuid");
  const page = await openPage();
  await signIn(page, token, inject("secrets").ADMIN_TOKEN);
  const asked: string[] = [];
  page.on("request", (request) => void (/\/v1\/activity/.test(request.url()) && asked.push(request.url())));
  await page.goto(`/console/#/items/${vault}/${items[0]}`);
  await page.getByText(/^Changed .* created/).waitFor();
  expect(asked).toEqual([]);
  await page.getByRole("tab", { name: "Activity" }).click();
  await page.getByText("Nobody else has read this item. The whole retained activity log was searched.").waitFor();
  await page.getByRole("row", { name: /created Grafana/ }).waitFor();
  expect(await page.getByRole("tabpanel").getByText("Other").count()).toBe(0);
  await sendRequest("GET", path, reader.token);
  // Reads reach the log within seconds.
  await expect
    .poll(async () => {
      await page.getByRole("tab", { name: "Details" }).click();
      await page.getByRole("tab", { name: "Activity" }).click();
      await page.getByText(/searched\.$/).waitFor();
      return page.getByText("Last read by test").count();
    })
    .toBe(1);
  expect(await checkLooks(page)).toBe("");
});

it("Activity and Access tell a token for some Items what it cannot see", async () => {
  const { vault, items } = await seed([login("Grafana")]);
  const { token } = await makeToken({ [vault]: { permissions: "r", items: [items[0]!] } }, "uuid");
  const page = await openPage({ token });
  await page.goto(`/console/#/items/${vault}/${items[0]}/activity`);
  await page.getByText("so you can’t see its activity").waitFor();
  await page.getByRole("tab", { name: "Access" }).click();
  await page.getByText("Your permissions: read (1 item only).").waitFor();
  await page.getByText("Only an administrator can see who else has access.").waitFor();
  expect(await checkLooks(page)).toBe("");
});

it("Access names to an administrator who reaches the Item, and not who reaches others in its vault only", async () => {
  const { vault, token, items } = await seed([login("Grafana"), login("Other")]);
  await admin("POST", "tokens", { name: "for-this", vaults: { [vault]: { permissions: "r", items: [items[0]] } } });
  await admin("POST", "tokens", { name: "for-other", vaults: { [vault]: { permissions: "r", items: [items[1]] } } });
  const page = await openPage();
  await signIn(page, token, inject("secrets").ADMIN_TOKEN);
  await page.goto(`/console/#/items/${vault}/${items[0]}/access`);
  await page.getByRole("row", { name: /for-this Token read \(1 item only\)/ }).waitFor();
  expect(await page.getByText("for-other").count()).toBe(0);
  expect(await checkLooks(page)).toBe("");
});
