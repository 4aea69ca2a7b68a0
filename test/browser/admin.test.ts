import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { Page } from "playwright-core";
import { expect, inject, it } from "vitest";
import { admin, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkAccessibility, checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import {
  button,
  changeAnswers,
  confirm,
  dialogOf,
  fill,
  focused,
  heading,
  listed,
  openAsBoth,
  press,
  pressKeys,
  see,
  views,
} from "./support/console.ts";
import { injectFault, revokeToken, stopFollowing } from "./support/faults.ts";
import { openPage, serviceOrigin } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { actsOf, chooseAct, openPanel, openSection } from "./support/rows.ts";
import { login, makeItems, seed } from "./support/seed.ts";
import { sharePage } from "./support/shared-page.ts";

/** The admin's views: vaults, tokens, people and workloads, and the grants of a session. */

const LONG = "A name of two hundred characters ".repeat(6).trim();
const MARKUP = '<img src=x onerror="alert(1)">';

type View = "vaults" | "tokens" | "people" | "workloads";

/** Opens a view as the admin, on the page that the tests share. `names`: those of the vaults, tokens, issuers and rules that it lists. */
const openView = async (view: View, ...names: readonly string[]): Promise<Page> => showView(await openShared(), view, names);

const openShared = sharePage(
  async () => ({ token: inject("secrets").ADMIN_TOKEN }),
  async (page) => {
    await page.goto("/console/#/health");
    await heading(page, "Health").waitFor();
  },
);

/** The same on a page of its own, for a test that changes the session or depends on what was listed before. */
const openOwnView = async (view: View, ...names: readonly string[]): Promise<Page> =>
  showView(await openPage({ token: inject("secrets").ADMIN_TOKEN }), view, names);

async function showView(page: Page, view: View, names: readonly string[]): Promise<Page> {
  await listOnly(page, ...names);
  await page.goto(`/console/#/${view}`);
  await page.getByRole("heading", { name: view, level: 1 }).waitFor();
  return page;
}

/** A row of a list of the admin, as far as the tests read it: people have no name. */
interface Row {
  readonly id: string;
  readonly name?: string;
}

/**
 * Lets the page list only the vaults, tokens, issuers and rules with these names. The other test files make some in the same service at the same time,
 * and a list of hundreds takes its time.
 */
const listOnly = (page: Page, ...names: readonly string[]): Promise<unknown> =>
  changeAnswers(page, /\/v1\/admin\/(?:vaults|tokens|issuers|rules)$/, (rows: readonly Row[]) =>
    rows.filter(({ name = "" }) => names.includes(name)),
  );

const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
/** Ticks boxes of the dialog. */
const tick = async (page: Page, ...names: readonly string[]) => {
  for (const name of names) await dialogOf(page).getByRole("checkbox", { name }).check();
};
/** Types the name of what is to be deleted, and deletes it. */
const destroy = async (page: Page, name: string, act: string) => {
  await dialogOf(page).getByRole("textbox").fill(name);
  await confirm(page, act);
};
/** Presses what issues a token, and returns the answer. */
const issue = async (page: Page, act: () => Promise<void>) => {
  const answer = page.waitForResponse((response) => response.url().endsWith("/v1/admin/tokens"));
  await act();
  return (await (await answer).json()) as { id: string; token: string; vaults: object };
};
const findVault = async (name: string) =>
  (await (admin("GET", "vaults") as unknown as Promise<Listed[]>)).find((vault) => vault.name === name);

interface Listed {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly quota: object;
}

it("creates a vault, changes its name and quotas, and deletes it when its name is typed", async () => {
  const page = await openView("vaults", "Accounting", "Bookkeeping");
  await press(page, "Create vault");
  await fill(dialogOf(page), { Name: "Accounting", Description: "Invoices", "Files in MB": "1.5" });
  await confirm(page, /^Create/);
  await see(rowOf(page, "Accounting"), "0 bytes of 1.5 MB");
  const quota = { items: 100_000, fileBytes: 1_500_000 };
  expect(await findVault("Accounting")).toMatchObject({ description: "Invoices", quota });

  await chooseAct(page, "Accounting", "Edit…");
  await fill(dialogOf(page), { Name: "Bookkeeping", Items: "7", "Files in MB": "" });
  await confirm(page, /^Save/);
  await see(rowOf(page, "Bookkeeping"), "0 of 7");
  const changed = { items: 7, fileBytes: 10 * 1024 ** 3 };
  expect(await findVault("Bookkeeping")).toMatchObject({ description: "Invoices", quota: changed });

  await chooseAct(page, "Bookkeeping", "Delete…");
  await dialogOf(page).getByRole("textbox").fill("Bookkeepin");
  expect(await button(dialogOf(page), "Delete vault").isDisabled()).toBe(true);
  await destroy(page, "Bookkeeping", "Delete vault");
  await rowOf(page, "Bookkeeping").waitFor({ state: "detached" });
  expect(await findVault("Bookkeeping")).toBeUndefined();
  await expect.poll(() => focused(page)).toBe("Vaults");
});

/** What the service is sent for a new row of each list. */
const NEW_ROWS: Readonly<Record<"vaults" | "tokens" | "people", (name: string, vault: string) => object>> = {
  vaults: (name) => ({ name }),
  tokens: (name, vault) => ({ name, vaults: { [vault]: "r" } }),
  people: (name, vault) => ({ email: name, vaults: { [vault]: "r" } }),
};

it.each(Object.entries(NEW_ROWS))("shows the newest row first, also beside 200 older %s", async (view, newRow) => {
  const name = `newest-${crypto.randomUUID()}@example.com`;
  const { id } = await admin("POST", view, newRow(name, await makeVault(`For ${name}`)));
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await changeAnswers(page, `/v1/admin/${view}`, (rows: readonly Row[]) => {
    const own = rows.find((row) => row.id === id)!;
    const older = Array.from({ length: 200 }, () => ({ ...own, id: crypto.randomUUID(), name: "older", email: "older" }));
    return [...older, own];
  });
  await page.goto(`/console/#/${view}`);
  await page.getByText("To see 1 other").waitFor();
  expect(await page.getByRole("rowheader").first().textContent()).toContain(name);
});

it("keeps what was typed when the service refuses it", async () => {
  const page = await openView("vaults", "Typed");
  const fault = await injectFault(page, "POST", "/v1/admin/vaults", { status: 507, kind: "database_full" });
  expectProblem(page, /507/); // The browser logs the status.
  await press(page, "Create vault");
  await fill(dialogOf(page), { Name: "Typed" });
  await confirm(page, /^Create/);
  expect(await dialogOf(page).getByRole("alert").textContent()).toContain("The database is nearly full");
  expect(await dialogOf(page).getByLabel("Name").inputValue()).toBe("Typed");
  fault.end();
  await confirm(page, /^Create/);
  await rowOf(page, "Typed").waitFor();
});

it("issues a token by keyboard, whose text is shown once and works until it is revoked", async () => {
  const vault = await makeVault("By keyboard");
  // On a page whose list has no vaults of other tests.
  const page = await openOwnView("tokens", "By keyboard", "nightly job");
  await expect.poll(() => focused(page)).toBe("Tokens");
  await pressKeys(page, "Tab");
  expect(await focused(page)).toBe("Issue token");
  await pressKeys(page, "Enter");
  await dialogOf(page).getByRole("grid").waitFor();
  await page.keyboard.type("nightly job");
  const isCheckbox = () => page.evaluate(() => (document.activeElement as HTMLInputElement).type === "checkbox");
  while (!(await isCheckbox())) await pressKeys(page, "Tab");
  for (let moves = 0; (await focused(page)) !== "Read: By keyboard" && moves < 5; moves++) await pressKeys(page, "ArrowDown");
  await pressKeys(page, "Space", "ArrowRight");
  expect(await focused(page)).toBe("Write: By keyboard");
  // Items, the lifetime and whether it issues tokens follow: the arrow keys move within the grid, and Tab leaves it.
  await pressKeys(page, "Space", "Tab", "Tab", "Tab", "Tab", "Tab");
  expect(await focused(page)).toBe("Issue token");
  await pressKeys(page, "Enter");
  await see(dialogOf(page), "You won’t be able to see it again.");
  expect(await focused(page)).toBe("Copy token");
  await pressKeys(page, "Escape");
  expect(await dialogOf(page).getByRole("alert").textContent()).toContain("You haven’t copied the token");
  await pressKeys(page, "Enter");
  await see(page, "Token copied");
  const text = await readClipboard(page);
  expect(await dialogOf(page).locator("pre").textContent()).toBe(
    `export ITEM_VAULT_HOST=${new URL(page.url()).origin}\nexport ITEM_VAULT_TOKEN=${text}`,
  );
  await pressKeys(page, "Escape");
  expect(await dialogOf(page).count()).toBe(0);
  expect(await page.content()).not.toContain(text);
  expect(await sendRequest("GET", "v1/token", text)).toMatchObject({ name: "nightly job", vaults: { [vault]: "rw" } });
  expect(await rowOf(page, "nightly job").textContent()).toContain("By keyboard read, write");

  await chooseAct(page, "nightly job", "Revoke…");
  expect(await dialogOf(page).textContent()).toContain("“nightly job” loses access immediately");
  await confirm(page, "Revoke token");
  await rowOf(page, "nightly job").waitFor({ state: "detached" });
  await expect(sendRequest("GET", "v1/token", text)).rejects.toThrow("401");
});

it("issues a token for single Items, which are found by title, and the table says so", async () => {
  const [name, other] = [`Limited ${crypto.randomUUID()}`, `Whole ${crypto.randomUUID()}`];
  const { vault, token, items } = await seed([login("Deploy key"), login("Deploy log"), login("Payroll")], { name });
  const whole = await makeVault(other);
  const page = await openAsBoth(token, "tokens", {
    fresh: true,
    before: (opened) => listOnly(opened, name, other, "for two items"),
  });
  await press(page, "Issue token");
  await fill(dialogOf(page), { Name: "for two items" });
  await tick(page, `Read: ${name}`, `Read: ${other}`);
  const field = dialogOf(page).getByLabel("Title, ID or reference");
  await field.pressSequentially("deploy");
  expect(await dialogOf(page).locator("datalist option").allTextContents()).toEqual(["Deploy key", "Deploy log"]);
  // As a browser tells of an option that was chosen.
  await field.evaluate((input: HTMLInputElement) => {
    input.value = "Deploy key";
    input.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertReplacementText" }));
  });
  await see(dialogOf(page), `And all items of ${other}`);
  expect(await field.inputValue()).toBe("");
  await field.fill("Payroll");
  await field.press("Enter");
  await confirm(page, /^Remove Payroll/);
  await expect.poll(() => field.evaluate((input) => input === document.activeElement)).toBe(true);
  expect(await checkLooks(page)).toBe("");
  await field.fill("Deploy log"); // which the form adds when it is sent
  const issued = await issue(page, () => confirm(page, "Issue token"));
  const chosen = [items[0]!, items[1]!].toSorted();
  expect(issued.vaults).toEqual({ [vault]: { permissions: "r", items: chosen }, [whole]: "r" });
  await confirm(page, "Copy token");
  await see(page, "Token copied");
  await pressKeys(page, "Escape");
  await see(rowOf(page, "for two items"), "read (2 items only)");
});

it("issues a token for Items that the session does not list by their ids and references, and for nothing else that was typed", async () => {
  const [name, other] = [`Unseen ${crypto.randomUUID()}`, `Further ${crypto.randomUUID()}`];
  const [first, second] = [await seed([login("One")], { name }), await seed([login("Two")], { name: other })];
  const page = await openOwnView("tokens", name, other, "by ids");
  const alert = dialogOf(page).getByRole("alert");
  await press(page, "Issue token");
  await fill(dialogOf(page), { Name: "by ids" });
  await tick(page, `Read: ${name}`);
  const field = dialogOf(page).getByLabel("Title, ID or reference");
  await field.fill("One");
  await confirm(page, "Issue token");
  await see(alert, "Choose an item from the list, or enter its ID.");
  await field.fill(first.items[0]!);
  await field.press("Enter");
  await see(dialogOf(page), `Item ${first.items[0]!.slice(0, 8)}`);
  await tick(page, `Read: ${other}`);
  await field.fill(second.items[0]!); // of which vault, the page does not know
  await field.press("Enter");
  await see(alert, "enter op://VAULT/ID");
  await field.fill(`op://${other.toUpperCase()}/${second.items[0]}/password`);
  expect((await issue(page, () => confirm(page, "Issue token"))).vaults).toEqual({
    [first.vault]: { permissions: "r", items: first.items },
    [second.vault]: { permissions: "r", items: second.items },
  });
});

it("opens the vaults of an admin by a token that the log shows and the page does not", async () => {
  const { vault } = await seed([login("Opened by the admin")], { name: "Opened" });
  const page = await openOwnView("vaults", "Opened", "Made later");
  await press(page, "Open vaults for 12 hours");
  await dialogOf(page).getByRole("checkbox", { name: "Write: All vaults" }).uncheck();
  const { id, token, vaults } = await issue(page, () => confirm(page, "Open vaults"));
  await listed(page, "Opened by the admin").click();
  await heading(page, "Opened by the admin").waitFor();
  expect(vaults).toHaveProperty(vault, "r");
  expect(await page.content()).not.toContain(token);
  const log = (await admin("GET", "activity")) as unknown as { action: string; resource: { token?: { id: string } } }[];
  expect(log.filter((entry) => JSON.stringify(entry.resource).includes(id)).map(({ action }) => action)).toContain("CREATE");

  // A vault that is made afterwards is not among them.
  await page.getByRole("link", { name: "Vaults" }).click();
  await see(page, /You have access as “console” until/);
  await press(page, "Create vault");
  await fill(dialogOf(page), { Name: "Made later" });
  await confirm(page, /^Create/);
  await see(page, "1 vault is not open");
  await press(page, "Open more vaults");
  await confirm(page, "Open vaults");
  await views(page).getByRole("link", { name: "Made later" }).waitFor();
  // Who acts is the same as before.
  const session = `fetch("/console/session", { headers: { "Item-Vault-Console": "1" } }).then((answer) => answer.json())`;
  expect(await page.evaluate(session)).toMatchObject({ token: { id } });
});

it("adds the admin's grant to the session of a token, and a token to that of an admin", async () => {
  const { token, tokenId } = await seed([login("Stays open"), login("Not open")], { name: "Granted" });
  const page = await openPage({ token });
  await stopFollowing(page);
  await page.goto("/console/");
  await listed(page, "Stays open").click();
  await press(page, /^Account/, "Sign in as admin");
  const field = dialogOf(page).getByLabel("Admin token");
  await field.fill(token);
  await field.press("Enter");
  expect(await dialogOf(page).getByRole("alert").textContent()).toBe("This is a token for vaults, not the admin token.");
  await field.fill(inject("secrets").ADMIN_TOKEN);
  await field.press("Enter");
  await page.getByRole("link", { name: "Tokens" }).waitFor();
  expect(await heading(page, "Stays open").isVisible()).toBe(true);
  await expect.poll(() => focused(page)).toBe("Vaults");
  expect(await page.getByRole("button", { name: "Sign in as admin", includeHidden: true }).count()).toBe(0);

  const other = await openOwnView("vaults", "Granted");
  await press(other, "Sign in with a token");
  await dialogOf(other).getByLabel("Token").fill(token);
  await confirm(other, "Sign in");
  await listed(other, "Stays open").waitFor();

  // The session lives on as the admin's, but does not read any more.
  await revokeToken(tokenId);
  expectProblem(page, /401/);
  await listed(page, "Not open").click();
  await dialogOf(page, "Your session has ended").waitFor();
});

it("says that records are damaged, and offers only to end them", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await showSample(page);
  await page.goto("/console/#/vaults");
  const vault = rowOf(page, "Damaged vault 00000000");
  expect(await vault.textContent()).toContain("Its stored record is damaged. It can only be deleted.");
  expect(await actsOf(page, "Damaged vault 00000000")).toEqual(["Delete…"]);
  await press(page, "Delete…");
  await dialogOf(page).getByRole("textbox", { name: "Type 00000000 to confirm" }).waitFor();
  await pressKeys(page, "Escape");

  await page.getByRole("link", { name: "Tokens" }).click();
  expect(await rowOf(page, "Damaged token 00000000").textContent()).toContain("It can only be revoked.");
  expect(await rowOf(page, "bound").textContent()).toContain("For service bindings");
  expect(await rowOf(page, "bound").textContent()).toContain("Damaged vault 00000000 read, delete permanently");
  expect(await rowOf(page, "over").count()).toBe(0);
  await page.getByLabel("Show expired").check();
  expect(await rowOf(page, "over").textContent()).toContain("ended");
  await page.getByLabel("Search tokens").fill("OVER");
  await expect.poll(() => page.getByRole("rowheader").allTextContents()).toEqual(["over"]);
});

const issueToken = (name: string, vaults: object) => admin("POST", "tokens", { name, vaults, dialect: "connect" });

it("shows who can open a vault: the people, tokens and rules that name it, with what each may do", async () => {
  const [name, other] = [`Opened ${crypto.randomUUID()}`, `Other ${crypto.randomUUID()}`];
  const [vault, elsewhere] = [await makeVault(name), await makeVault(other)];
  const email = `${crypto.randomUUID()}@example.com`;
  const item = crypto.randomUUID();
  const { publicKey } = await generateKeyPair("ES256");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256" }] };
  const issuer = await admin("POST", "issuers", { name: "Any issuer", issuer: `https://${vault}.example.com`, jwks });
  await admin("POST", "rules", { name: "A rule", issuer: issuer.id, claims: { project: "shop" }, vaults: { [vault]: "r" } });
  await admin("POST", "people", { email, vaults: { [vault]: "rw" } });
  await issueToken("A reader", { [vault]: { permissions: "r", items: [item] }, [elsewhere]: "rw" });
  await issueToken("A stranger", { [elsewhere]: "rw" });
  const revoked = await issueToken("A revoked token", { [vault]: "rw" });
  await admin("DELETE", `tokens/${revoked.id}`);

  const page = await openOwnView("vaults", name, other, "A reader", "A stranger", "A revoked token", "Any issuer", "A rule");
  const panel = await openSection(page, name, "Who has access");
  const table = panel.getByRole("table", { name: "Who has access" });
  await table.waitFor();
  const rows = await table.locator("tbody").getByRole("row").allTextContents();
  expect(rows.map((text) => text.replace(/in \d.*/, "…"))).toEqual([
    `${email}Personread, writenever`,
    "A readerTokenread (1 item only)…",
    "A ruleRule for workloadsreadnever",
  ]);
  expect(await checkLooks(page)).toBe("");
});

it("shows all of a row in a panel that a key opens and closes, and that copies its id", async () => {
  const [name, vault] = [`In the panel ${crypto.randomUUID()}`, `Long ${crypto.randomUUID()}`];
  const others = await Promise.all(["b", "c"].map((letter) => makeVault(`${vault} ${letter}`)));
  const vaults = Object.fromEntries([await makeVault(`${vault} a`), ...others].map((id) => [id, "r"]));
  const { id, expiresAt } = (await admin("POST", "tokens", { name, vaults })) as { id: string; expiresAt?: string };
  const page = await openOwnView("tokens", name, ...["a", "b", "c"].map((letter) => `${vault} ${letter}`));
  const opener = page.getByRole("rowheader").getByRole("button", { name });
  await rowOf(page, name).getByText("3 vaults").waitFor();
  await opener.press("Enter");
  const panel = page.getByRole("region", { name });
  await expect.poll(() => focused(page)).toBe(name);
  for (const letter of ["a", "b", "c"]) await panel.getByText(`${vault} ${letter} read`).waitFor();
  expect(await panel.locator(`time[datetime="${expiresAt}"]`).count()).toBe(1);
  expect(await opener.getAttribute("aria-expanded")).toBe("true");
  await panel.getByRole("button", { name: "Copy ID" }).click();
  expect(await readClipboard(page)).toBe(id);
  expect(await checkLooks(page)).toBe("");
  // Escape in a dialog of the panel ends the dialog alone.
  await panel.getByRole("button", { name: "Revoke…" }).click();
  await pressKeys(page, "Escape");
  await dialogOf(page).waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toBe("Revoke…");
  await pressKeys(page, "Escape");
  await panel.waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toBe(name);
});

it.each([
  [1440, true],
  [390, false],
])("at %i pixels the panel of a row leaves the table beside it: %s; Back closes it", async (width, isBeside) => {
  const name = `Beside ${crypto.randomUUID()}`;
  await makeVault(name);
  const page = await openOwnView("vaults", name);
  await page.setViewportSize({ width, height: 780 });
  await rowOf(page, name).getByRole("cell").first().click();
  await page.getByRole("region", { name }).waitFor();
  expect(await page.getByRole("table", { name: "Vaults" }).isVisible()).toBe(isBeside);
  await page.goBack();
  await page.getByRole("region", { name }).waitFor({ state: "detached" });
  await page.getByRole("table", { name: "Vaults" }).waitFor();
  await expect.poll(() => focused(page)).toBe(name);
});

it("keeps a panel in the history while its row exists: Back closes it, and after a deletion leads to the view before", async () => {
  const name = `Left ${crypto.randomUUID()}`;
  await makeVault(name);
  const page = await openOwnView("vaults", name);
  const open = async (view: string) => {
    await views(page).getByRole("link", { name: view }).click();
    await heading(page, view).waitFor();
  };
  const panel = page.getByRole("region", { name });
  await openPanel(page, name);
  await open("Tokens");
  for (const state of ["visible", "detached"] as const) {
    await page.goBack();
    await panel.waitFor({ state });
  }
  await open("Health");
  await open("Vaults");
  await chooseAct(page, name, "Delete…");
  await destroy(page, name, "Delete vault");
  await panel.waitFor({ state: "detached" });
  await heading(page, "Vaults").waitFor();
  await page.goBack();
  await heading(page, "Health").waitFor();
  expect(new URL(page.url()).hash).toBe("#/health");
});

it("says how many records do not open, where it shows who can open a vault", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await showSample(page);
  await page.goto("/console/#/vaults");
  await rowOf(page, MARKUP).waitFor();
  const panel = await openSection(page, MARKUP, "Who has access");
  await panel.getByText("3 records cannot be decrypted: the vaults they name are unknown.").waitFor();
  expect(await panel.getByRole("rowheader").count()).toBe(3);
});

it("shows when a token was last used and what it has done, and asks for that only when it is opened", async () => {
  const [used, unused] = [`Used ${crypto.randomUUID()}`, `Unused ${crypto.randomUUID()}`];
  const name = `Busy ${crypto.randomUUID()}`;
  const vault = await makeVault(name);
  const { token } = await admin("POST", "tokens", { name: used, vaults: { [vault]: "rw" } });
  await admin("POST", "tokens", { name: unused, vaults: { [vault]: "r" } });
  await makeItems(
    token,
    vault,
    Array.from({ length: 55 }, (_, number) => login(`Login ${number}`)),
  );
  const page = await openOwnView("tokens", used, unused, name);
  const asked: string[] = [];
  page.on("request", (request) => void (request.url().includes("/activity") && asked.push(request.url())));
  await rowOf(page, used).waitFor();
  expect(asked).toEqual([]);
  const panel = await openPanel(page, used);
  expect(asked).toEqual([]);
  await panel.getByText("Activity", { exact: true }).click();
  await panel.getByText(/^Last used/).waitFor();
  const entries = panel.getByRole("row", { name: new RegExp(`created .* version 1 in ${name}`) });
  await expect.poll(() => entries.count()).toBe(50);
  expect(await checkLooks(page)).toBe("");
  await panel.getByRole("button", { name: "Load older entries" }).click();
  await expect.poll(() => entries.count()).toBe(55);
  const other = await openSection(page, unused, "Activity");
  await other.getByText("Never used (in the retained activity log).").waitFor();
  expect(asked.length).toBeGreaterThan(2);
});

it("invites a person, changes their vaults and removes them", async () => {
  const vault = await makeVault("Shared with people");
  const page = await openView("people", "Shared with people");
  const invite = async (email: string): Promise<void> => {
    await press(page, "Invite person");
    await dialogOf(page).getByLabel("Email address").fill(email);
    await tick(page, "Read: Shared with people");
    await confirm(page, /^Invite/);
  };
  await invite("Grace@Example.com ");
  const row = rowOf(page, "grace@example.com");
  await see(row, "Shared with people read");
  expectProblem(page, /409/);
  await invite("grace@example.com");
  expect(await dialogOf(page).getByRole("alert").textContent()).toContain("There is a person with this email address already");
  await pressKeys(page, "Escape");

  await chooseAct(page, "grace@example.com", "Change vaults…");
  await tick(page, "Write: Shared with people");
  await confirm(page, /^Save/);
  await see(row, "read, write");
  const people = (await admin("GET", "people")) as unknown as { email: string; vaults: object }[];
  expect(people.find(({ email }) => email === "grace@example.com")).toMatchObject({ vaults: { [vault]: "rw" } });

  await chooseAct(page, "grace@example.com", "Remove…");
  expect(await dialogOf(page).textContent()).toContain("can’t sign in any more. Tokens they have copied still work");
  await confirm(page, /^Remove/);
  await row.waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toBe("People");
});

it("adds an issuer and a rule that was tested with a token of it, and deletes them", async () => {
  const vault = await makeVault("For a workload");
  const page = await openOwnView("workloads", "For a workload", "Our cluster", "Our cluster: shop");
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const url = `https://${crypto.randomUUID()}.example.com`;
  await press(page, "Add issuer");
  await dialogOf(page).getByLabel("Name").fill("Our cluster");
  expect(await dialogOf(page).getByLabel("URL").inputValue()).toBe("https://token.actions.githubusercontent.com");
  expect(await dialogOf(page).getByLabel("Accept each of its tokens only once").count()).toBe(0);
  await dialogOf(page).getByLabel("Platform").selectOption("Kubernetes");
  expect(await dialogOf(page).getByLabel("Accept each of its tokens only once").isChecked()).toBe(false);
  expect(await dialogOf(page).getByLabel("URL").inputValue()).toBe("");
  await dialogOf(page).getByLabel("URL").fill(url);
  await dialogOf(page).getByLabel("Public keys").fill("{");
  await confirm(page, "Add issuer");
  await expect.poll(() => dialogOf(page).getByRole("alert").textContent()).toContain("must be a JWK set in JSON");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "one" }] };
  await dialogOf(page).getByLabel("Public keys").fill(JSON.stringify(jwks));
  await confirm(page, "Add issuer");
  const issuer = rowOf(page, "Our cluster");
  await issuer.getByText(`iss = ${url}`).waitFor();
  expect(await issuer.getByRole("rowheader").textContent()).toContain("Issuer: KubernetesWith keys of its own");

  // A token whose signature is right, and that no rule matches.
  const account = { namespace: "shop", serviceaccount: { uid: "1234" } };
  const token = await new SignJWT({ "kubernetes.io": account, replicas: 3 })
    .setProtectedHeader({ alg: "ES256", kid: "one" })
    .setIssuer(url)
    .setAudience(serviceOrigin())
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(privateKey);
  const body = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    subject_token: token,
  });
  const exchange = () => fetch(`${serviceOrigin()}/v1/token-exchange`, { method: "POST", body });
  expect((await exchange()).status).toBe(401);

  await press(page, "Add rule for Our cluster");
  await dialogOf(page).getByLabel("Name", { exact: true }).fill("Our cluster: shop");
  await dialogOf(page).getByLabel("/kubernetes.io/namespace").fill("shop");
  await dialogOf(page).getByLabel("/kubernetes.io/serviceaccount/uid").fill("other");
  await confirm(page, "Add claim");
  await page.keyboard.type("replicas");
  const claim = dialogOf(page).getByRole("group", { name: "Claim 1" });
  expect(await claim.getByLabel("Name").inputValue()).toBe("replicas");
  await claim.getByLabel("Type").selectOption("Number, true or false");
  await claim.getByLabel("Value").fill("3");
  await dialogOf(page).getByRole("checkbox", { name: "Read: For a workload" }).check();
  const [test, add] = ["Test rule", "Add rule"].map((name) => dialogOf(page).getByRole("button", { name }));
  await test!.click();
  await dialogOf(page).getByText("The rule matches 0 of the last 1 token of this issuer.").waitFor();
  await dialogOf(page).getByText("does not match: /kubernetes.io/serviceaccount/uid", { exact: true }).waitFor();
  expect(await checkAccessibility(page)).toBe("");

  // What is added is what was tested.
  await dialogOf(page).getByLabel("/kubernetes.io/serviceaccount/uid").fill("1234");
  expect(await add!.count()).toBe(0);
  await pressKeys(page, "Enter");
  await dialogOf(page).getByText("The rule matches 1 of the last 1 token of this issuer.").waitFor();
  expect(await focused(page)).toContain("matches 1 of the last 1 token");
  await add!.click();
  const rule = rowOf(page, "Our cluster: shop");
  await rule.getByText("For a workload read").waitFor();
  expect(await rule.getByRole("listitem").allTextContents()).toEqual([
    "/kubernetes.io/namespace = shop",
    "/kubernetes.io/serviceaccount/uid = 1234",
    "replicas = 3",
    "For a workload read",
  ]);
  expect(await rule.getByRole("rowheader").textContent()).toContain("Rule of Our clusterTokens of 15 min");
  const granted = (await (await exchange()).json()) as { access_token: string; expires_in: number };
  expect(await sendRequest("GET", "v1/token", granted.access_token)).toMatchObject({ vaults: { [vault]: "r" } });

  await chooseAct(page, "Our cluster: shop", "Delete…");
  expect(await dialogOf(page).textContent()).toContain("will be deleted. Workloads lose access with their next request.");
  await confirm(page, "Delete rule");
  await rule.waitFor({ state: "detached" });
  await expect.poll(() => focused(page)).toBe("Workloads");
  await expect(sendRequest("GET", "v1/token", granted.access_token)).rejects.toThrow("401");
  await chooseAct(page, "Our cluster", "Delete…");
  expect(await dialogOf(page).textContent()).toContain("Our cluster and all its rules will be deleted");
  await confirm(page, "Delete issuer");
  await page.getByText("Let CI jobs and pods sign in").waitFor();
});

it("asks for the claims and permits of the issuer's preset, and says which records are damaged", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await showSample(page);
  await page.goto("/console/#/workloads");
  expect(await rowOf(page, "Damaged issuer 00000001").textContent()).toContain("It can only be deleted.");
  expect(await actsOf(page, "Damaged rule 00000000")).toEqual(["Delete…"]);
  await pressKeys(page, "Escape");
  expect(await page.getByRole("rowheader").last().textContent()).toContain("Damaged rule");
  const needed = dialogOf(page).getByRole("group", { name: "Claims" }).getByRole("textbox");
  await press(page, `Add rule for ${LONG}`);
  await dialogOf(page).getByRole("group", { name: "Claim 1" }).waitFor();
  await dialogOf(page).getByLabel("The subject (sub) may be the only claim").check();
  await confirm(page, "Remove claim 1");
  await expect.poll(() => focused(page)).toBe("Add claim");
  await pressKeys(page, "Escape");

  await press(page, "Add rule for GitHub");
  expect(await needed.count()).toBe(2);
  await dialogOf(page).getByLabel("repository_owner_id").fill("42");
  await dialogOf(page).getByLabel("For every repository of the owner").check();
  await expect.poll(() => needed.count()).toBe(1);
  expect(await needed.inputValue()).toBe("42");
  expect(await checkLooks(page)).toBe("");
});

it.each(["vaults", "tokens", "people", "workloads"])(
  "shows damaged, ended and long rows of %s without a violation of accessibility",
  async (view) => {
    const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
    await showSample(page);
    await page.goto(`/console/#/${view}`);
    await page.getByRole("table").waitFor();
    expect(await checkLooks(page)).toBe("");
  },
);

/** Answers the lists of the page by rows that a service rarely has: damaged, ended, long and hostile ones. */
async function showSample(page: Page): Promise<void> {
  const ids = [1, 2, 3, 4].map((digit) => `0000000${digit - 1}-0000-4000-8000-000000000000`);
  const createdAt = "2026-01-02T03:04:05Z";
  const expiresAt = "2099-01-01T00:00:00Z";
  const broken = { id: ids[0], createdAt, broken: "integrity" };
  const amounts = { items: 3, bytes: 250_000_000, fileBytes: 1 };
  const counts = { items: 3, quota: amounts, usage: amounts };
  const vaults = Object.fromEntries(ids.map((id) => [id, "rwd"]));
  const token = { createdAt, expiresAt, dialect: "uuid", vaults: { [ids[0]!]: "rd" } };
  const lists = {
    vaults: [
      { ...broken, ...counts },
      { id: ids[1], name: LONG, description: LONG, createdAt, ...counts },
      { id: ids[2], name: MARKUP, description: "", createdAt, ...counts },
    ],
    tokens: [
      { ...broken, expiresAt },
      { ...token, id: "1", name: LONG, vaults },
      { ...token, id: "2", name: MARKUP, dialect: "connect" },
      { ...token, id: "3", name: "bound", binding: true },
      { ...token, id: "4", name: "over", expiresAt: createdAt, endedAt: createdAt },
    ],
    issuers: [
      { id: "1", name: LONG, issuer: `https://${"a".repeat(200)}.example.com`, preset: "generic", once: false, createdAt },
      { ...broken, id: ids[1] },
      { id: "3", name: "GitHub", issuer: "https://github.example.com", preset: "github", once: true, createdAt },
    ],
    rules: [
      {
        id: "2",
        name: LONG,
        issuer: "1",
        claims: { sub: "a".repeat(1024), [LONG]: MARKUP, n: 7 },
        vaults,
        lifetime: 900,
        createdAt,
      },
      broken,
    ],
    people: [broken, { id: "1", email: LONG.replaceAll(" ", "-"), vaults, createdAt }],
  };
  for (const [name, json] of Object.entries(lists)) await page.route(`**/v1/admin/${name}`, (route) => route.fulfill({ json }));
}
