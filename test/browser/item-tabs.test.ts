import { expect, it } from "vitest";
import { admin, makeToken, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { htmlOf, openAsBoth, openItem, openView, press, pressKeys, see } from "./support/console.ts";
import { login, seed } from "./support/seed.ts";

/** The tabs of an Item. */

it("the tabs of an Item are reached by the arrow keys, opened by Enter and Space, and named by the address", async () => {
  const { page, address } = await openItem([login("Grafana")]);
  const [details, history] = ["Details", "History"].map((name) => page.getByRole("tab", { name }));
  await details!.press("ArrowRight");
  expect(await details!.getAttribute("aria-selected")).toBe("true");
  await pressKeys(page, "Enter");
  await see(page.getByRole("tabpanel", { name: "History" }), "Version 1");
  expect(page.url()).toContain(`${address}/history`);
  await pressKeys(page, "Home", " ");
  await see(page.getByRole("tabpanel", { name: "Details" }), "username");
  await pressKeys(page, "ArrowLeft", "ArrowRight");
  await expect.poll(() => details!.evaluate((tab) => tab === document.activeElement)).toBe(true);
  await page.goBack();
  await expect.poll(() => history!.getAttribute("aria-selected")).toBe("true");
});

it("Use has lines for the chosen field to copy, and never its value", async () => {
  const { page, items } = await openItem([login("Graf: 'ana'", { password: "kept-secret" })], { tab: "use" });
  const part = (name: string | RegExp) => page.getByRole("region", { name });
  await expect
    .poll(() => part("Command line").locator("code").innerText())
    .toBe(`item-vault read 'op://Team/${items[0]}/password'`);
  await see(part("Terraform"), "Values land in the state");
  expect(await part(/External/).innerText()).toContain(`key: "Graf: 'ana'"`);
  expect(await htmlOf(page)).not.toContain("kept-secret");
  await page.getByLabel("Field or file").selectOption("username");
  await press(page, "Copy Reference");
  await expect.poll(() => readClipboard(page)).toBe(`op://Team/${items[0]}/username`);
});

it("Activity says who else has read the Item last, and asks for it only when it is opened", async () => {
  const { vault, token, items } = await seed([login("Grafana"), login("Other")]);
  const reader = await makeToken({ [vault]: "r" }, "uuid");
  const asked: string[] = [];
  const page = await openAsBoth(token, `items/${vault}/${items[0]}`, {
    before: (opened) => opened.on("request", (request) => /\/v1\/activity/.test(request.url()) && asked.push(request.url())),
  });
  const openTab = (name: string) => page.getByRole("tab", { name }).click();
  await see(page, /^Changed .* created/);
  expect(asked).toEqual([]);
  await openTab("Activity");
  await see(page, "Nobody else has read this item. The whole retained activity log was searched.");
  await page.getByRole("row", { name: /created Grafana/ }).waitFor();
  expect(await page.getByRole("tabpanel").getByText("Other").count()).toBe(0);
  await sendRequest("GET", `v1/vaults/${vault}/items/${items[0]}`, reader.token);
  // Reads reach the log within seconds.
  const count = async () => {
    for (const tab of ["Details", "Activity"]) await openTab(tab);
    await see(page, /searched\.$/);
    return page.getByText("Last read by test").count();
  };
  await expect.poll(count).toBe(1);
  expect(await checkLooks(page)).toBe("");
});

it("Activity and Access tell a token for some Items what it cannot see", async () => {
  const { vault, items } = await seed([login("Grafana")]);
  const { token } = await makeToken({ [vault]: { permissions: "r", items: [items[0]!] } }, "uuid");
  const page = await openView(`items/${vault}/${items[0]}/activity`, { token });
  await see(page, "so you can’t see its activity");
  await page.getByRole("tab", { name: "Access" }).click();
  await see(page, "Your permissions: read (1 item only).", "Only an administrator can see who else has access.");
  expect(await checkLooks(page)).toBe("");
});

it("Access names to an administrator who reaches the Item, and not who reaches others in its vault only", async () => {
  const { vault, token, items } = await seed([login("Grafana"), login("Other")]);
  for (const [index, name] of ["for-this", "for-other"].entries())
    await admin("POST", "tokens", { name, vaults: { [vault]: { permissions: "r", items: [items[index]] } } });
  const page = await openAsBoth(token, `items/${vault}/${items[0]}/access`);
  await page.getByRole("row", { name: /for-this Token read \(1 item only\)/ }).waitFor();
  expect(await page.getByText("for-other").count()).toBe(0);
  expect(await checkLooks(page)).toBe("");
});
