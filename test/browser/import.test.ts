import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { LOGIN, protectedVault } from "../cli/transfer/formats/bitwarden-fixture.ts";
import { makeOnePux } from "../cli/transfer/support/onepux.ts";
import { admin, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import {
  button,
  dialogOf,
  focused,
  heading,
  link,
  listed,
  press,
  pressKeys,
  see,
  type Shown,
  shown,
  type Stored,
} from "./support/console.ts";
import { injectFault, limitVault } from "./support/faults.ts";
import { openPage, startPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { seed } from "./support/seed.ts";

/** Importing files in the console. */

const MARKUP = "<img src=x onerror=alert(1)>";
const PASSWORDS = readFileSync("docs/examples/passwords.csv");
const POSTS = "/v1/vaults/*/items";

/** The view of a session with one vault. */
async function openImport(): Promise<Shown> {
  const seeded = await seed();
  const page = await openPage({ token: seeded.token });
  await page.goto("/console/#/import");
  await page.getByLabel("Choose a file").waitFor();
  return shown(page, seeded);
}

/** Chooses a file, and waits for what its import would do. */
async function choose(page: Page, name: string, content: Uint8Array | string, forecast?: string): Promise<void> {
  const file = { name, mimeType: "application/octet-stream", buffer: Buffer.from(content) };
  await page.getByLabel("Choose a file").setInputFiles(file);
  if (forecast !== undefined) await foresee(page, forecast);
}
const foresee = (page: Page, text: string): Promise<void> => page.getByRole("status").getByText(text, { exact: true }).waitFor();

/** A CSV file of Chrome with so many passwords. */
const csvOf = (count: number): string =>
  `name,url,username,password\n${Array.from({ length: count }, (_, n) => `Site ${n},https://${n}.example.com,ada,secret-${n}\n`).join("")}`;
/** An export of Item Vault. */
const exportOf = (items: readonly object[]): string =>
  JSON.stringify({ format: "item-vault", version: 1, items: items.map((item) => ({ category: "LOGIN", ...item })) });

const isImported = (page: Page): Promise<void> => page.getByRole("heading", { name: "Imported" }).waitFor();
const importAll = async (page: Page, name: string): Promise<void> => {
  await press(page, name);
  await isImported(page);
};

describe("an import", () => {
  it("shows what a CSV file has, writes it, and finds everything there the second time, with the keyboard alone", async () => {
    const { page, titles } = await openImport();
    await choose(page, "passwords.csv", PASSWORDS, "2 items: 2 new.");
    await see(page, "2 logins from Chrome.", "Everything can be imported.");
    expect(await titles()).toEqual([]);
    await pressKeys(page, "Tab", "Tab", "Tab");
    expect(await focused(page)).toBe("Import 2 items");
    await page.keyboard.press("Enter");
    await isImported(page);
    await see(page.getByRole("list", { name: "Result" }), "created");
    expect(await titles()).toEqual(["Mail", "Staging"]);
    await pressKeys(page, "Tab", "Tab", "Enter");
    await choose(page, "passwords.csv", PASSWORDS, "2 items: 2 already here. Nothing to import.");
    expect(await button(page, "Import").isDisabled()).toBe(true);
  });

  it("says which Items of a file that was changed since are there with other content, and leaves them", async () => {
    const { page } = await openImport();
    const ids = [crypto.randomUUID(), crypto.randomUUID()];
    const sourceOf = (...titles: string[]) => exportOf(titles.map((title, n) => ({ id: ids[n], title })));
    await choose(page, "source.json", sourceOf("Mail", "Shop"));
    await importAll(page, "Import 2 items");
    await press(page, "Import another file");
    const forecast = "2 items: 1 already here, 1 already here with different content. Nothing to import.";
    await choose(page, "source.json", sourceOf("Mail", `Shop ${MARKUP}`), forecast);
    await page.getByText("Already here with different content (not changed) (1)").click();
    await page.getByText(`Shop ${MARKUP}`, { exact: true }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(await checkLooks(page)).toBe("");
  });

  it("stays ready while the list of the vaults is loaded again", async () => {
    const { page, vault } = await openImport();
    await choose(page, "passwords.csv", PASSWORDS, "2 items: 2 new.");
    await button(page, "Import 2 items").evaluate((element) => {
      new MutationObserver(() => Object.assign(globalThis, { hasChanged: true })).observe(element, { attributes: true });
    });
    await admin("PATCH", `vaults/${vault}`, { name: "Renamed" });
    await page.locator("option", { hasText: "Renamed" }).waitFor({ state: "attached" });
    expect(await page.evaluate("globalThis.hasChanged")).toBeUndefined();
    await importAll(page, "Import 2 items");
  });

  it("opens an encrypted file with its password, which is sent nowhere, and shows markup as text", async () => {
    const { page } = await openImport();
    const sent: string[] = [];
    page.on("request", (request) => void sent.push(`${request.url()} ${request.postData()}`));
    const items = [{ ...LOGIN, name: MARKUP, reprompt: 1 }];
    const content = JSON.stringify(await protectedVault(JSON.stringify({ encrypted: false, items }), "correct horse"));
    await choose(page, "bitwarden.json", content);
    const enter = async (password: string) => {
      await page.getByLabel("File password").fill(password);
      await page.keyboard.press("Enter");
    };
    await enter("wrong");
    await see(page.getByRole("alert"), "The password is wrong");
    await enter("correct horse");
    const losses = page.getByRole("list", { name: "Not carried over" });
    await see(losses, "settings that ask for the master password again");
    await losses.getByText(`in “${MARKUP}”`).first().waitFor();
    await importAll(page, "Import 1 item");
    await link(page, "View items").click();
    await listed(page, MARKUP).click();
    await heading(page, MARKUP).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(sent.filter((request) => /correct horse|encKeyValidation/.test(request))).toEqual([]);
  });

  it("puts the Items of each vault of a 1PUX file where the user says, with their Files", async () => {
    const { page, token, vault } = await openImport();
    await choose(page, "export.1pux", makeOnePux(), "3 items: 3 new.");
    await page.getByLabel("Import “Private” into").waitFor();
    await page.getByLabel("Import items from the trash too").check();
    await foresee(page, "4 items: 4 new.");
    await importAll(page, "Import 4 items");
    const items = (await sendRequest("GET", `v1/vaults/${vault}/items?archived=true`, token)) as { id: string }[];
    const files = await Promise.all(items.map(({ id }) => sendRequest("GET", `v1/vaults/${vault}/items/${id}/files`, token)));
    expect(files.flat()).toHaveLength(2);
  });

  it("says that two vaults of the file have one name, and lets the user choose where their Items go", async () => {
    const { page } = await openImport();
    const items = ["one", "two"].map((vaultId) => ({ title: `Of ${vaultId}`, vault: "Team", vaultId }));
    await choose(page, "export.json", exportOf(items));
    await see(page, /^The file has 2 vaults named “.?Team.?”, in upper or lower case/, "To import, choose a vault.");
    expect(await button(page, "Import").isDisabled()).toBe(true);
    await page.getByLabel("Import “Team” into").selectOption({ label: "Team" });
    await foresee(page, "2 items: 2 new.");
    await importAll(page, "Import 2 items");
  });

  it("leaves nothing of the file in the page when the view is left", async () => {
    const { page } = await openImport();
    await choose(page, "passwords.csv", csvOf(1), "1 item: 1 new.");
    for (const view of ["Activity", "Import"]) await link(page, view).click();
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
    await press(shared, "Continue");
    await foresee(shared, "1 item: 1 new.");
    expect(await button(shared, "Import 1 item").isEnabled()).toBe(true);
  });

  it("has columns that the user names, if it is CSV of no known app, and they can be changed", async () => {
    const { page, token, vault } = await openImport();
    const columnOf = (name: string) => page.getByRole("combobox", { name, exact: true });
    const chosen = (name: string) => columnOf(name).locator("option:checked").textContent();
    await choose(page, "autres.csv", "Nom;Login Name;Mot de passe;Couleur\nBoutique;ada;pw1;rouge\n");
    await heading(page, "Columns of “autres.csv”").waitFor();
    expect([await chosen("Login Name"), await chosen("Couleur")]).toEqual(["Username", "Hidden field"]);
    expect(await checkLooks(page)).toBe("");
    await columnOf("Nom").selectOption({ label: "Title" });
    await press(page, "Continue");
    await foresee(page, "1 item: 1 new.");
    await press(page, "Change columns");
    expect(await chosen("Nom")).toBe("Title");
    await columnOf("Mot de passe").selectOption({ label: "Password" });
    await columnOf("Couleur").selectOption({ label: "Do not import" });
    await press(page, "Continue");
    await see(page.getByRole("list", { name: "Not carried over" }), "values of the column “Couleur”");
    await importAll(page, "Import 1 item");
    const [item] = (await sendRequest("GET", `v1/vaults/${vault}/items`, token)) as { id: string }[];
    const made = (await sendRequest("GET", `v1/vaults/${vault}/items/${item!.id}`, token)) as Stored;
    expect([made.title, ...made.fields.map(({ value }) => value)]).toEqual(["Boutique", "ada", "pw1"]);
  });

  it("has odd items, which are named and left out when the user says so", async () => {
    const { page, titles } = await openImport();
    await choose(page, "odd.csv", "name,url,username,password\nFine,,ada,pw1\nOdd,ada\n", "1 item: 1 new.");
    await see(page, "“Odd” cannot be read: The row has 2 values but the header has 4");
    expect(await button(page, "Import 1 item").isDisabled()).toBe(true);
    await page.getByLabel("Leave it out").check();
    await importAll(page, "Import 1 item");
    expect(await titles()).toEqual(["Fine"]);
  });
});

describe("an import that ends early", () => {
  it("continues after the network failed, and makes nothing twice", async () => {
    const { page, titles } = await openImport();
    expectProblem(page, /ERR_CONNECTION_RESET/);
    await choose(page, "many.csv", csvOf(8), "8 items: 8 new.");
    const fault = await injectFault(page, "POST", POSTS, "lost");
    await press(page, "Import 8 items");
    await see(page.getByRole("alert"), "The service did not answer");
    fault.end();
    await importAll(page, "Continue");
    expect(await titles()).toHaveLength(8);
  });

  it("asks before it is stopped by a link, goes on meanwhile, and stops only then", async () => {
    const { page, titles } = await openImport();
    const { requests, end } = await injectFault(page, "POST", POSTS, "held");
    await choose(page, "passwords.csv", csvOf(30));
    await press(page, "Import 30 items");
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    const dialog = dialogOf(page, "Stop the import?");
    for (const answer of ["Keep importing", "Stop and leave"]) {
      expect(page.url()).toContain("#/import");
      await page.getByRole("link", { name: "All items" }).click();
      await press(dialog, answer);
    }
    await page.getByRole("searchbox", { name: "Search items" }).waitFor();
    end();
    expect((await titles()).length).toBeLessThan(30);
  });

  it("stops when the user says so, and when the vault is full, and continues", async () => {
    const { page, vault, titles } = await openImport();
    expectProblem(page, /507/);
    await choose(page, "many.csv", csvOf(20), "20 items: 20 new.");
    const fault = await injectFault(page, "POST", POSTS, "held");
    await press(page, "Import 20 items", "Stop");
    fault.end();
    await heading(page, "Import stopped").waitFor();
    await see(page, "not imported yet");
    await limitVault(vault, { items: 18 });
    await press(page, "Continue");
    await see(page.getByRole("alert"), "The vault is full");
    await limitVault(vault, { items: 100 });
    await importAll(page, "Continue");
    expect(await titles()).toHaveLength(20);
  });
});

it("the stages of an import have no violation of accessibility, light and dark, wide and narrow", async () => {
  const { page } = await openImport();
  const encrypted = JSON.stringify(await protectedVault("{}", "x"));
  for (const show of [
    async () => undefined,
    async () => {
      await choose(page, "protected.json", encrypted);
      await page.getByLabel("File password").waitFor();
    },
    async () => {
      await press(page, "Choose another file");
      await choose(page, "export.1pux", makeOnePux(), "3 items: 3 new.");
    },
    () => importAll(page, "Import 3 items"),
  ]) {
    await show();
    expect(await checkLooks(page)).toBe("");
  }
});
