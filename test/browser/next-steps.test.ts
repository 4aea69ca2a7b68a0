import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { admin, makeToken, makeVault } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { openPage, serviceOrigin } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { openPanel } from "./support/rows.ts";
import { login, seed } from "./support/seed.ts";

/** What the views say where there is nothing, or something is missing or fails: the reason, and what to do next. */

/** Opens a view with a session of a token. */
async function openView(token: string, view: string): Promise<Page> {
  const page = await openPage({ token });
  await page.goto(`/console/#/${view}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

const asAdmin = (view: string): Promise<Page> => openView(inject("secrets").ADMIN_TOKEN, view);
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe("an address that the session may not open", () => {
  it("says that an admin is needed, and shows no items in place of the view", async () => {
    const { token } = await seed([login("Grafana")]);
    for (const [view, title] of [
      ["tokens", "Tokens"],
      ["backups", "Backups"],
    ] as const) {
      const page = await openView(token, view);
      await page.getByRole("heading", { name: title }).waitFor();
      await page.getByText("Only an admin can open this.").waitFor();
      await page.getByRole("main").getByRole("button", { name: "Sign in as admin" }).waitFor();
      expect(await page.getByRole("link", { name: "Grafana" }).count()).toBe(0);
      expect(await page.title()).toBe(`${title} · Item Vault`);
      expect(await checkLooks(page)).toBe("");
    }
  });

  it("leads an admin without vaults to the vaults", async () => {
    const page = await asAdmin("import");
    await page.getByText("As an admin you open vaults first").waitFor();
    await page.getByRole("main").getByRole("link", { name: "Vaults" }).click();
    await page.getByRole("heading", { name: "Vaults", exact: true }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/vaults");
  });
});

describe("a session without items or permissions", () => {
  it("is told why nothing can be checked", async () => {
    const empty = await openView((await seed()).token, "passwords");
    await empty.getByText("No items to check. Add or import items first.").waitFor();
    const lists = await openView((await seed([login("Only listed")], { permission: "l" })).token, "passwords");
    await lists.getByText("1 item can’t be checked: you need read access. Ask an administrator.").waitFor();
    for (const page of [empty, lists]) expect(await page.getByRole("button", { name: /^Check/ }).count()).toBe(0);
  });

  it("is told which of the listed items a check leaves out", async () => {
    const [read, listed] = [await seed([login("Read")]), await seed([login("Only listed")])];
    const { token } = await makeToken({ [read.vault]: "r", [listed.vault]: "l" }, "uuid");
    const page = await openView(token, "passwords");
    await button(page, "Check 1 item").waitFor();
    expect(await page.getByText("1 item can’t be checked: you need read access.").count()).toBe(1);
  });

  it("is told whom to ask for the access that an import and deleted items need", async () => {
    const { token } = await seed([login("Read")], { permission: "r" });
    const page = await openView(token, "import");
    await page.getByText("You need write access to a vault to import. Ask an administrator.").waitFor();
    await page.goto("/console/#/deleted");
    await page.getByText("You need read and write access to a vault to restore its items. Ask an administrator.").waitFor();
    expect(await page.getByText("No deleted items.").count()).toBe(0);
  });

  it("is not asked to select an item that is not there", async () => {
    const page = await openView((await seed()).token, "items");
    await page.getByText("No items yet.").waitFor();
    expect(await page.getByText("Select an item").count()).toBe(0);
    await page.goto("/console/#/deleted");
    await page.getByText("No deleted items.").waitFor();
    expect(await page.getByText("Select a deleted item").count()).toBe(0);
  });
});

/** Chooses a CSV file in a session that can import into two vaults. */
async function openFile(name: string, text: string | Buffer): Promise<Page> {
  const [one, other] = [await makeVault("One"), await makeVault("Other")];
  const page = await openView((await makeToken({ [one]: "rw", [other]: "rw" }, "uuid")).token, "import");
  await page.getByLabel("Choose a file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
  return page;
}

describe("an import that cannot begin", () => {
  it("names what is missing: the vault, the tick, or both", async () => {
    const page = await openFile("odd.csv", "name,url,username,password\nFine,,ada,pw1\nOdd,ada\n");
    await page.getByText("To import, choose a vault and tick “Leave it out”.").waitFor();
    await page.getByLabel("Leave it out").check();
    await page.getByText("To import, choose a vault.").waitFor();
    await page.getByLabel("Import into").selectOption({ label: "One" });
    await expect.poll(() => page.getByText(/^To import,/).count()).toBe(0);
    await page.getByLabel("Leave it out").uncheck();
    await page.getByText("To import, tick “Leave it out”.").waitFor();
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
    const page = await asAdmin("backups");
    await page.route("**/v1/admin/backups/vaults", (route) => route.fulfill({ json: { vaults: [] } }));
    await button(page, "Restore…").click();
    await page.getByText("No vault has a backup yet.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Back up now…" }).click();
    await page.getByRole("dialog", { name: "Back up now" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(1);
  });

  it("reads that a webhook fails, what its receiver answered, and what happens next", async () => {
    const vault = await makeVault("Failing");
    const row = {
      id: crypto.randomUUID(),
      url: "https://fails.example.com/",
      state: "ACTIVE",
      createdAt: new Date().toISOString(),
      pending: 1,
      failures: 7,
    };
    const fault = (kind: string, status?: number) => ({ ...row, lastError: { kind, status, at: row.createdAt } });
    const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
    const rows = [fault("status", 503), { ...row, id: crypto.randomUUID(), url: "https://works.example.com/", failures: 0 }];
    await admin("POST", `vaults/${vault}/webhooks`, { url: row.url });
    await page.route(`**/v1/admin/vaults/${vault}/webhooks`, (route) => route.fulfill({ json: rows }));
    await page.goto("/console/#/webhooks");
    const stateOf = (url: string) => page.getByRole("row", { name: url }).locator("td[data-label='State']");
    await page.getByText("The receiver answered 503.").waitFor();
    expect(await stateOf("https://fails.example.com/").innerText()).toBe("Failing");
    expect(await stateOf("https://works.example.com/").innerText()).toBe("Active");
    const panel = await openPanel(page, "https://fails.example.com/");
    await panel.getByText("Failing: tried again for a day, then paused.").waitFor();
    rows[0] = fault("redirect", 302);
    await page.reload();
    await panel.getByText("Redirects are not followed. Change the URL: the receiver answered 302.").waitFor();
  });

  it("reads that nothing can sign in by an issuer without rules", async () => {
    const name = `Issuer ${crypto.randomUUID()}`;
    const issuer = `https://${crypto.randomUUID()}.example.com`;
    const made = (await admin("POST", "issuers", { name, issuer, preset: "generic" })) as unknown as { id: string };
    const page = await asAdmin("workloads");
    await page.getByRole("row", { name }).getByText("None: nothing can sign in before a rule is added").waitFor();
    const body = { name: "A rule", issuer: made.id, claims: { project: "shop" }, vaults: { [await makeVault("Own")]: "r" } };
    await admin("POST", "rules", body);
    await page.reload();
    await page.getByRole("row", { name }).first().getByText("Set by its rules").waitFor();
    expect(await page.getByRole("row", { name }).getByText("None: nothing can sign in").count()).toBe(0);
  });

  it("types limits in the unit of the default that the field shows", async () => {
    const page = await asAdmin("vaults");
    await button(page, "Create vault").click();
    const shown = (label: string) => page.getByLabel(label).getAttribute("placeholder");
    expect([await shown("Size in MB"), await shown("Files in MB")]).toEqual(["268", "10737"]);
  });
});

describe("after a deployment", () => {
  it("a part of the page whose script is gone offers a reload, which shows it", async () => {
    const { token } = await seed();
    const page = await openPage({ token, fresh: true });
    expectProblem(page, /404/);
    await page.goto("/console/");
    await page.getByText("No items yet.").waitFor();
    // The release before had scripts of other names.
    let isOld = true;
    await page.route("**/console/assets/*.js", (route) =>
      isOld ? route.continue({ url: route.request().url().replace(".js", "-old.js") }) : route.continue(),
    );
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Password check" }).click();
    await page.getByText("Part of this page could not be loaded").waitFor();
    isOld = false;
    await button(page, "Reload").click();
    await page.getByRole("heading", { name: "Password check" }).waitFor();
  });

  it("a browser that asks for the icon of the service gets one", async () => {
    const answer = await fetch(`${serviceOrigin()}/favicon.ico`);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "image/svg+xml"]);
  });
});
