import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { admin, makeToken, makeVault } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { button, confirm, dialogOf, heading, listed, openList, openView, press, see, views } from "./support/console.ts";
import { serviceOrigin } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { actsOf, openPanel } from "./support/rows.ts";
import { login, type NewItem, seed, type SeedOptions } from "./support/seed.ts";

/** What the views say where there is nothing, or something is missing or fails: the reason, and what to do next. */

/** Opens a view with a session of a new vault. */
const openWith = async (view: string, items: readonly NewItem[] = [], options: SeedOptions = {}): Promise<Page> =>
  openView(view, { token: (await seed(items, options)).token });

describe("an address that the session may not open", () => {
  it("says that an admin is needed, and shows no items in place of the view", async () => {
    const { token } = await seed([login("Grafana")]);
    for (const title of ["Tokens", "Backups"]) {
      const page = await openView(title.toLowerCase(), { token });
      await heading(page, title).waitFor();
      await see(page, "Only an admin can open this.");
      await button(page.getByRole("main"), "Sign in as admin").waitFor();
      expect(await page.getByRole("link", { name: "Grafana" }).count()).toBe(0);
      expect(await page.title()).toBe(`${title} · Item Vault`);
      expect(await checkLooks(page)).toBe("");
    }
  });

  it("leads an admin without vaults to the vaults", async () => {
    const page = await openView("import");
    await see(page, "As an admin you open vaults first");
    await page.getByRole("main").getByRole("link", { name: "Vaults" }).click();
    await heading(page, "Vaults").waitFor();
    expect(new URL(page.url()).hash).toBe("#/vaults");
  });
});

describe("a session without items or permissions", () => {
  it("is told why nothing can be checked", async () => {
    for (const [page, text] of [
      [await openWith("passwords"), "No items to check. Add or import items first."],
      [
        await openWith("passwords", [login("Only listed")], { permission: "l" }),
        "1 item can’t be checked: you need read access. Ask an administrator.",
      ],
    ] as const) {
      await see(page, text);
      expect(await page.getByRole("button", { name: /^Check/ }).count()).toBe(0);
    }
  });

  it("is told which of the listed items a check leaves out", async () => {
    const [read, hidden] = [await seed([login("Read")]), await seed([login("Only listed")])];
    const { token } = await makeToken({ [read.vault]: "r", [hidden.vault]: "l" }, "uuid");
    const page = await openView("passwords", { token });
    await button(page, "Check 1 item").waitFor();
    expect(await page.getByText("1 item can’t be checked: you need read access.").count()).toBe(1);
  });

  it("is told whom to ask for the access that an import and deleted items need", async () => {
    const page = await openWith("import", [login("Read")], { permission: "r" });
    await see(page, "You need write access to a vault to import. Ask an administrator.");
    expect(await page.getByLabel("Choose a file").count()).toBe(0);
    await page.goto("/console/#/deleted");
    await see(page, "You need read and write access to a vault to restore its items. Ask an administrator.");
    expect(await page.getByText("No deleted items.").count()).toBe(0);
  });

  it("is offered the views that its permissions can use, and no others, by the menu and the search", async () => {
    const { vault, items } = await seed([login("Grafana")]);
    const all = ["Deleted items", "Import", "Password check"];
    for (const [scope, offered] of [
      ["l", []],
      ["lw", []],
      ["r", ["Password check"]],
      [{ permissions: "rw", items }, ["Deleted items", "Password check"]],
      ["rw", all],
    ] as const) {
      const page = await openView("items", { token: (await makeToken({ [vault]: scope }, "uuid")).token });
      await listed(page, "Grafana").waitFor();
      const named = async (texts: Promise<string[]>) => (await texts).filter((text) => all.includes(text));
      expect([scope, await named(page.locator(".sidebar .name").allInnerTexts())]).toEqual([scope, offered]);
      await page.keyboard.press("Control+k");
      await page.locator(".results [role=option]").first().waitFor();
      expect([scope, await named(page.locator(".results .name").allInnerTexts())]).toEqual([scope, offered]);
    }
  });

  it("is not asked to select an item that is not there", async () => {
    const page = await openWith("items");
    await see(page, "No items yet.");
    expect(await page.getByText("Select an item").count()).toBe(0);
    await page.goto("/console/#/deleted");
    await see(page, "No deleted items.");
    expect(await page.getByText("Select a deleted item").count()).toBe(0);
  });
});

/** Chooses a CSV file in a session that can import into two vaults. */
async function openFile(name: string, text: string | Buffer): Promise<Page> {
  const [one, other] = [await makeVault("One"), await makeVault("Other")];
  const { token } = await makeToken({ [one]: "rw", [other]: "rw" }, "uuid");
  const page = await openView("import", { token });
  await page.getByLabel("Choose a file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
  return page;
}

describe("an import that cannot begin", () => {
  it("names what is missing: the vault, the tick, or both", async () => {
    const page = await openFile("odd.csv", "name,url,username,password\nFine,,ada,pw1\nOdd,ada\n");
    await see(page, "To import, choose a vault and tick “Leave it out”.");
    await page.getByLabel("Leave it out").check();
    await see(page, "To import, choose a vault.");
    await page.getByLabel("Import into").selectOption({ label: "One" });
    await expect.poll(() => page.getByText(/^To import,/).count()).toBe(0);
    await page.getByLabel("Leave it out").uncheck();
    await see(page, "To import, tick “Leave it out”.");
    expect(await button(page, "Import 1 item").isDisabled()).toBe(true);
  });

  it.each([
    ["latin.csv", Buffer.from("name,url,username,password\nCaf\xe9,,ada,x\n", "latin1"), "Save it as UTF-8 and try again."],
    ["unknown.txt", Buffer.from("one\n1\n"), "Which app is it from?"],
  ])("names the file and what to do: %s", async (name, text, next) => {
    const page = await openFile(name, text);
    const failure = page.locator("main .failure");
    await failure.getByText(name, { exact: true }).waitFor();
    expect(await failure.getByText(next).count()).toBe(1);
  });
});

describe("an administrator", () => {
  it("makes a backup from the dialog that has none to restore", async () => {
    const page = await openView("backups");
    await page.route("**/v1/admin/backups/vaults", (route) => route.fulfill({ json: { vaults: [] } }));
    await press(page, "Restore…");
    await see(page, "No vault has a backup yet.");
    await confirm(page, "Back up now…");
    await dialogOf(page, "Back up now").waitFor();
    expect(await dialogOf(page).count()).toBe(1);
  });

  it("reads that a webhook fails or is paused, each part of its state on its own line, and what happens next", async () => {
    const vault = await makeVault("Failing");
    const createdAt = new Date().toISOString();
    const fault = { kind: "status", status: 503, at: createdAt };
    const row = (name: string, more: object) => {
      const url = `https://${name}.example.com/a/long/path/of/the/receiver`;
      return { id: name, url, state: "ACTIVE", createdAt, pending: 2, failures: 8, lastError: fault, ...more };
    };
    const rows: object[] = [
      row("fails", {}),
      row("works", { failures: 0, lastError: undefined }),
      row("paused", { state: "PAUSED" }),
      { ...row("damaged", { broken: "integrity" }), url: undefined },
    ];
    // Only a vault that has webhooks is asked for them.
    await admin("POST", `vaults/${vault}/webhooks`, { url: "https://fails.example.com/" });
    const page = await openView("webhooks", {
      before: (opened) => opened.route(`**/v1/admin/vaults/${vault}/webhooks`, (route) => route.fulfill({ json: rows })),
    });
    const cell = (name: string, label: string) =>
      page.getByRole("row", { name: new RegExp(`${name}\\.example`) }).locator(`td[data-label='${label}']`);
    await cell("fails", "State").waitFor();
    const states = await Promise.all(["fails", "works", "paused"].map((name) => cell(name, "State").innerText()));
    expect(states.map((text) => text.split("\n")[0])).toEqual(["Failing", "Active", "Paused"]);
    expect((await cell("paused", "Deliveries").locator(":scope > div").innerText()).split("\n")).toEqual([
      "Nothing delivered yet\u00a0· 2 pending\u00a0· 8 failed",
      "The receiver answered 503.",
    ]);
    expect(await actsOf(page, "Damaged webhook damaged")).toEqual(["Delete…"]);
    const panel = await openPanel(page, "https://fails.example.com/a/long/path/of/the/receiver");
    await see(panel, "Failing: tried again for a day, then paused.");
    rows[0] = row("fails", { lastError: { kind: "redirect", status: 302, at: createdAt } });
    await page.reload();
    await see(panel, "Redirects are not followed. Change the URL: the receiver answered 302.");
  });

  it("reads that nothing can sign in by an issuer without rules", async () => {
    const name = `Issuer ${crypto.randomUUID()}`;
    const issuer = `https://${crypto.randomUUID()}.example.com`;
    const { id } = await admin("POST", "issuers", { name, issuer, preset: "generic" });
    const page = await openView("workloads");
    const row = page.getByRole("row", { name });
    await see(row, "None: nothing can sign in before a rule is added");
    const body = { name: "A rule", issuer: id, claims: { project: "shop" }, vaults: { [await makeVault("Own")]: "r" } };
    await admin("POST", "rules", body);
    await page.reload();
    await see(row.first(), "Set by its rules");
    expect(await row.getByText("None: nothing can sign in").count()).toBe(0);
  });

  it("types limits in the unit of the default that the field shows", async () => {
    const page = await openView("vaults");
    await press(page, "Create vault");
    const hint = (label: string) => page.getByLabel(label).getAttribute("placeholder");
    expect([await hint("Size in MB"), await hint("Files in MB")]).toEqual(["268", "10737"]);
  });
});

describe("after a deployment", () => {
  it("a part of the page whose script is gone offers a reload, which shows it", async () => {
    const { page } = await openList([], { fresh: true });
    expectProblem(page, /404/);
    // The release before had scripts of other names.
    let isOld = true;
    await page.route("**/console/assets/*.js", (route) =>
      isOld ? route.continue({ url: route.request().url().replace(".js", "-old.js") }) : route.continue(),
    );
    await views(page).getByRole("link", { name: "Password check" }).click();
    await see(page, "Part of this page could not be loaded");
    isOld = false;
    await press(page, "Reload");
    await heading(page, "Password check").waitFor();
  });

  it("a browser that asks for the icon of the service gets one", async () => {
    const answer = await fetch(`${serviceOrigin()}/favicon.ico`);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "image/svg+xml"]);
  });
});
