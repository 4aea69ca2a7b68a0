import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { LOGIN, protectedVault } from "../cli/transfer/formats/bitwarden-fixture.ts";
import { makeOnePux } from "../cli/transfer/support/onepux.ts";
import { admin, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { injectFault, limitVault } from "./support/faults.ts";
import { openPage, startPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { type Seeded, seed } from "./support/seed.ts";

/** Importing files in the console. */

const MARKUP = "<img src=x onerror=alert(1)>";
const PASSWORDS = readFileSync("docs/examples/passwords.csv");

interface Opened extends Seeded {
  readonly page: Page;
}

/** The view of a session with one vault. */
async function openImport(): Promise<Opened> {
  const seeded = await seed([], { name: "Team" });
  const page = await openPage({ token: seeded.token });
  await page.goto("/console/#/import");
  await page.getByLabel("Choose a file").waitFor();
  return { ...seeded, page };
}

const choose = (page: Page, name: string, content: Uint8Array | string): Promise<void> =>
  page.getByLabel("Choose a file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) });

const titlesIn = async ({ token, vault }: Seeded): Promise<string[]> =>
  ((await sendRequest("GET", `v1/vaults/${vault}/items`, token)) as { title: string }[]).map(({ title }) => title).toSorted();

/** A CSV file of Chrome with so many passwords. */
const csvOf = (count: number): string =>
  `name,url,username,password\n${Array.from({ length: count }, (_, n) => `Site ${n},https://${n}.example.com,ada,secret-${n}\n`).join("")}`;

const isImported = (page: Page): Promise<void> => page.getByRole("heading", { name: "Imported" }).waitFor();
const forecast = (page: Page, text: string): Promise<void> => page.getByRole("status").getByText(text, { exact: true }).waitFor();

describe("an import", () => {
  it("shows what a CSV file has, writes it, and finds everything there the second time, with the keyboard alone", async () => {
    const opened = await openImport();
    const { page } = opened;
    await choose(page, "passwords.csv", PASSWORDS);
    await forecast(page, "2 items: 2 new.");
    await page.getByText("2 logins from Chrome.").waitFor();
    await page.getByText("Everything can be imported.").waitFor();
    expect(await titlesIn(opened)).toEqual([]);
    for (const key of ["Tab", "Tab", "Tab"]) await page.keyboard.press(key);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Import 2 items");
    await page.keyboard.press("Enter");
    await isImported(page);
    await page.getByRole("list", { name: "Result" }).getByText("created").waitFor();
    expect(await titlesIn(opened)).toEqual(["Mail", "Staging"]);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await choose(page, "passwords.csv", PASSWORDS);
    await forecast(page, "2 items: 2 already here. Nothing to import.");
    expect(await page.getByRole("button", { name: "Import", exact: true }).isDisabled()).toBe(true);
  });

  it("says which Items of a file that was changed since are there with other content, and leaves them", async () => {
    const { page } = await openImport();
    const ids = [crypto.randomUUID(), crypto.randomUUID()];
    const sourceOf = (titles: readonly string[]) => {
      const items = titles.map((title, n) => ({ id: ids[n], title, category: "LOGIN" }));
      return JSON.stringify({ format: "item-vault", version: 1, items });
    };
    await choose(page, "source.json", sourceOf(["Mail", "Shop"]));
    await page.getByRole("button", { name: "Import 2 items" }).click();
    await isImported(page);
    await page.getByRole("button", { name: "Import another file" }).click();
    await choose(page, "source.json", sourceOf(["Mail", `Shop ${MARKUP}`]));
    await forecast(page, "2 items: 1 already here, 1 already here with different content. Nothing to import.");
    await page.getByText("Already here with different content (not changed) (1)").click();
    await page.getByText(`Shop ${MARKUP}`, { exact: true }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(await checkLooks(page)).toBe("");
  });

  it("stays ready while the list of the vaults is loaded again", async () => {
    const { page, vault } = await openImport();
    await choose(page, "passwords.csv", PASSWORDS);
    await forecast(page, "2 items: 2 new.");
    await page.evaluate(() => {
      const button = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Import 2 items")!;
      new MutationObserver(() => Object.assign(globalThis, { hasChanged: true })).observe(button, { attributes: true });
    });
    await admin("PATCH", `vaults/${vault}`, { name: "Renamed" });
    await page.locator("option", { hasText: "Renamed" }).waitFor({ state: "attached" });
    expect(await page.evaluate("globalThis.hasChanged")).toBeUndefined();
    await page.getByRole("button", { name: "Import 2 items" }).click();
    await isImported(page);
  });

  it("opens an encrypted file with its password, which is sent nowhere, and shows markup as text", async () => {
    const { page } = await openImport();
    const sent: string[] = [];
    page.on("request", (request) => void sent.push(`${request.url()} ${request.postData()}`));
    const items = [{ ...LOGIN, name: MARKUP, reprompt: 1 }];
    const file = JSON.stringify(await protectedVault(JSON.stringify({ encrypted: false, items }), "correct horse"));
    await choose(page, "bitwarden.json", file);
    await page.getByLabel("File password").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("The password is wrong").waitFor();
    await page.getByLabel("File password").fill("correct horse");
    await page.keyboard.press("Enter");
    const losses = page.getByRole("list", { name: "Not carried over" });
    await losses.getByText("settings that ask for the master password again").waitFor();
    await losses.getByText(`in “${MARKUP}”`).first().waitFor();
    await page.getByRole("button", { name: "Import 1 item" }).click();
    await isImported(page);
    await page.getByRole("link", { name: "View items" }).click();
    await page.locator(".rows").getByRole("link", { name: MARKUP }).click();
    await page.getByRole("heading", { name: MARKUP }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(sent.filter((request) => /correct horse|encKeyValidation/.test(request))).toEqual([]);
  });

  it("puts the Items of each vault of a 1PUX file where the user says, with their Files", async () => {
    const { page, token, vault } = await openImport();
    await choose(page, "export.1pux", makeOnePux());
    await page.getByLabel("Import “Private” into").waitFor();
    await forecast(page, "3 items: 3 new.");
    await page.getByLabel("Import items from the trash too").check();
    await forecast(page, "4 items: 4 new.");
    await page.getByRole("button", { name: "Import 4 items" }).click();
    await isImported(page);
    const items = (await sendRequest("GET", `v1/vaults/${vault}/items?archived=true`, token)) as { id: string; title: string }[];
    const files = await Promise.all(items.map(({ id }) => sendRequest("GET", `v1/vaults/${vault}/items/${id}/files`, token)));
    expect(files.flat()).toHaveLength(2);
  });

  it("says that two vaults of the file have one name, and lets the user choose where their Items go", async () => {
    const { page } = await openImport();
    const items = ["one", "two"].map((vaultId) => ({ title: `Of ${vaultId}`, category: "LOGIN", vault: "Team", vaultId }));
    await choose(page, "export.json", JSON.stringify({ format: "item-vault", version: 1, items }));
    await page.getByText(/^The file has 2 vaults named “.?Team.?”, in upper or lower case/).waitFor();
    await page.getByText("To import, choose a vault.").waitFor();
    expect(await page.getByRole("button", { name: "Import", exact: true }).isDisabled()).toBe(true);
    await page.getByLabel("Import “Team” into").selectOption({ label: "Team" });
    await forecast(page, "2 items: 2 new.");
    await page.getByRole("button", { name: "Import 2 items" }).click();
    await isImported(page);
  });

  it("leaves nothing of the file in the page when the view is left", async () => {
    const { page } = await openImport();
    await choose(page, "passwords.csv", csvOf(1).replace("Site 0", "Only here"));
    await forecast(page, "1 item: 1 new.");
    await page.getByRole("link", { name: "Activity" }).click();
    await page.getByRole("link", { name: "Import", exact: true }).click();
    await page.getByLabel("Choose a file").waitFor();
    expect(await page.content()).not.toContain("passwords.csv");
  });
});

describe("a file that cannot be read", () => {
  let shared: Page;
  beforeAll(async () => {
    const { token } = await seed();
    const { page, close } = await startPage({ token });
    shared = page;
    await page.goto("/console/#/import");
    return close;
  });

  it.each([
    ["broken.json", '{"encrypted": false, "items": 7}', "The file.items is no array. Nothing was imported."],
    [
      "my data.kdbx",
      Uint8Array.of(3, 0xd9, 0xa2, 0x9a),
      "Only the command line opens KeePass databases. Run: item-vault import FILE",
    ],
  ])("is refused in words: %s", async (name, content, message) => {
    await choose(shared, name, content);
    const alert = shared.getByRole("alert");
    await expect.poll(() => alert.allTextContents()).toEqual([expect.stringContaining(message)]);
  });

  it("is read as the format that the user chooses, if it has the signs of none", async () => {
    await choose(shared, "variables.txt", "A=1\nB=2\n");
    await shared.getByLabel("App").selectOption({ label: ".env: one item with a field per variable" });
    await shared.getByRole("button", { name: "Continue" }).click();
    await forecast(shared, "1 item: 1 new.");
    expect(await shared.getByRole("button", { name: "Import 1 item" }).isEnabled()).toBe(true);
  });

  it("has columns that the user names, if it is CSV of no known app, and they can be changed", async () => {
    const { page, token, vault } = await openImport();
    await choose(page, "autres.csv", "Nom;Login Name;Mot de passe;Couleur\nBoutique;ada;pw1;rouge\n");
    await page.getByRole("heading", { name: "Columns of “autres.csv”" }).waitFor();
    expect(await page.getByLabel("Login Name").locator("option:checked").textContent()).toBe("Username");
    expect(await page.getByLabel("Couleur").locator("option:checked").textContent()).toBe("Hidden field");
    expect(await checkLooks(page)).toBe("");
    await page.getByRole("combobox", { name: "Nom", exact: true }).selectOption({ label: "Title" });
    await page.getByRole("button", { name: "Continue" }).click();
    await forecast(page, "1 item: 1 new.");
    await page.getByRole("button", { name: "Change columns" }).click();
    expect(await page.getByRole("combobox", { name: "Nom", exact: true }).locator("option:checked").textContent()).toBe("Title");
    await page.getByLabel("Mot de passe").selectOption({ label: "Password" });
    await page.getByLabel("Couleur").selectOption({ label: "Do not import" });
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("list", { name: "Not carried over" }).getByText("values of the column “Couleur”").waitFor();
    await page.getByRole("button", { name: "Import 1 item" }).click();
    await isImported(page);
    const [item] = (await sendRequest("GET", `v1/vaults/${vault}/items`, token)) as { id: string; title: string }[];
    const { fields } = (await sendRequest("GET", `v1/vaults/${vault}/items/${item!.id}`, token)) as {
      fields: { value: string }[];
    };
    expect([item!.title, ...fields.map(({ value }) => value)]).toEqual(["Boutique", "ada", "pw1"]);
  });

  it("has odd items, which are named and left out when the user says so", async () => {
    const { page, ...seeded } = await openImport();
    await choose(page, "odd.csv", "name,url,username,password\nFine,,ada,pw1\nOdd,ada\n");
    await page.getByText("“Odd” cannot be read: The row has 2 values but the header has 4").waitFor();
    await forecast(page, "1 item: 1 new.");
    expect(await page.getByRole("button", { name: "Import 1 item" }).isDisabled()).toBe(true);
    await page.getByLabel("Leave it out").check();
    await page.getByRole("button", { name: "Import 1 item" }).click();
    await isImported(page);
    expect(await titlesIn(seeded)).toEqual(["Fine"]);
  });

  it("is not asked of a session that may write to no vault", async () => {
    const { token } = await seed([], { permission: "r" });
    const page = await openPage({ token });
    await page.goto("/console/#/import");
    await page.getByText("You need write access to a vault to import.").waitFor();
    expect(await page.getByLabel("Choose a file").count()).toBe(0);
  });
});

describe("an import that ends early", () => {
  it("continues after the network failed, and makes nothing twice", async () => {
    const opened = await openImport();
    const { page } = opened;
    expectProblem(page, /ERR_CONNECTION_RESET/);
    await choose(page, "many.csv", csvOf(8));
    await forecast(page, "8 items: 8 new.");
    const fault = await injectFault(page, "POST", "/v1/vaults/*/items", "lost");
    await page.getByRole("button", { name: "Import 8 items" }).click();
    await page.getByRole("alert").getByText("The service did not answer").waitFor();
    fault.end();
    await page.getByRole("button", { name: "Continue" }).click();
    await isImported(page);
    expect(await titlesIn(opened)).toHaveLength(8);
  });

  it("asks before it is stopped by a link, goes on meanwhile, and stops only then", async () => {
    const { page, ...seeded } = await openImport();
    const { requests, end } = await injectFault(page, "POST", "/v1/vaults/*/items", "held");
    await choose(page, "passwords.csv", csvOf(30));
    await page.getByRole("button", { name: "Import 30 items" }).click();
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    const link = page.getByRole("link", { name: "All items" });
    const dialog = page.getByRole("dialog", { name: "Stop the import?" });
    await link.click();
    await dialog.getByRole("button", { name: "Keep importing" }).click();
    expect(page.url()).toContain("#/import");
    await link.click();
    await dialog.getByRole("button", { name: "Stop and leave" }).click();
    await page.getByRole("searchbox", { name: "Search items" }).waitFor();
    end();
    expect((await titlesIn(seeded)).length).toBeLessThan(30);
  });

  it("stops when the user says so, and when the vault is full, and continues", async () => {
    const opened = await openImport();
    const { page, vault } = opened;
    expectProblem(page, /507/);
    await choose(page, "many.csv", csvOf(20));
    await forecast(page, "20 items: 20 new.");
    const fault = await injectFault(page, "POST", "/v1/vaults/*/items", "held");
    await page.getByRole("button", { name: "Import 20 items" }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    fault.end();
    await page.getByRole("heading", { name: "Import stopped" }).waitFor();
    await page.getByText("not imported yet").waitFor();
    await limitVault(vault, { items: 18 });
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").getByText("The vault is full").waitFor();
    await limitVault(vault, { items: 100 });
    await page.getByRole("button", { name: "Continue" }).click();
    await isImported(page);
    expect(await titlesIn(opened)).toHaveLength(20);
  });
});

it("the stages of an import have no violation of accessibility, light and dark, wide and narrow", async () => {
  const { page } = await openImport();
  expect(await checkLooks(page)).toBe("");
  await choose(page, "protected.json", JSON.stringify(await protectedVault("{}", "x")));
  await page.getByLabel("File password").waitFor();
  expect(await checkLooks(page)).toBe("");
  await page.getByRole("button", { name: "Choose another file" }).click();
  await choose(page, "export.1pux", makeOnePux());
  await forecast(page, "3 items: 3 new.");
  expect(await checkLooks(page)).toBe("");
  await page.getByRole("button", { name: "Import 3 items" }).click();
  await isImported(page);
  expect(await checkLooks(page)).toBe("");
});
