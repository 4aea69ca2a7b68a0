import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { admin, makeVault } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { button, confirm, dialogOf, listed, openAsBoth, openView, press, see, shown, type Shown } from "./support/console.ts";
import { openPage } from "./support/page.ts";
import { chooseAct, openPanel, openSection } from "./support/rows.ts";
import { login, type NewItem, seed } from "./support/seed.ts";

/** Webhooks, backups, jobs and keys, as the administrator sees them. */

const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });
/** A job may wait for others, and backups of a service with the vaults of all tests take some time. */
const PATIENT = { timeout: 120_000 };

/** Presses what starts a job, and waits for its end. */
async function runJob(page: Page, start: () => Promise<void>): Promise<void> {
  const [response] = await Promise.all([
    page.waitForResponse((one) => one.request().method() === "POST" && one.url().endsWith("/v1/admin/jobs")),
    start(),
  ]);
  const { id } = (await response.json()) as { id: string };
  const state = async () => ((await admin("GET", `jobs/${id}`)) as unknown as { state: string }).state;
  await expect.poll(state, PATIENT).toBe("done");
}

describe("webhooks", () => {
  it("are added, and their secret is shown once, which a single Escape does not close", async () => {
    const name = `Watched ${crypto.randomUUID()}`;
    const vault = await makeVault(name);
    const page = await openView("webhooks");
    await press(page, "Add webhook");
    await dialogOf(page).getByLabel("Vault").selectOption(name);
    await dialogOf(page).getByLabel("URL").fill("https://example.com/added");
    await confirm(page, "Add webhook");
    const text = await dialogOf(page).locator("pre").innerText();
    expect(text).toMatch(/^whsec_/);
    await page.keyboard.press("Escape");
    expect(await dialogOf(page).getByRole("alert").innerText()).toContain("You haven’t copied the secret");
    await confirm(page, "Close without copying");
    await see(rowOf(page, name), "https://example.com/added");
    expect(await page.content()).not.toContain(text);
    expect(await admin("GET", `vaults/${vault}/webhooks`)).toMatchObject([{ url: "https://example.com/added", state: "ACTIVE" }]);
    expect(await checkLooks(page)).toBe("");
  });

  it("are changed, stopped, continued, signed with a new secret, and deleted", async () => {
    const name = `Changed ${crypto.randomUUID()}`;
    const vault = await makeVault(name);
    const url = `https://example.com/${vault}`;
    await admin("POST", `vaults/${vault}/webhooks`, { url });
    const page = await openView("webhooks");
    const state = async () => ((await admin("GET", `vaults/${vault}/webhooks`)) as unknown as { state: string }[])[0]?.state;
    await rowOf(page, name).waitFor();
    await chooseAct(page, url, "Change…");
    await dialogOf(page).getByLabel("Deliveries").selectOption("Stop");
    await confirm(page, "Save");
    await see(rowOf(page, name), "Disabled");
    expect(await state()).toBe("DISABLED");
    await chooseAct(page, url, "Change…");
    await dialogOf(page).getByLabel("Deliveries").selectOption("Resume from now");
    await confirm(page, "Save");
    await see(rowOf(page, name), "Active");
    expect(await state()).toBe("ACTIVE");
    await chooseAct(page, url, "New secret…");
    await confirm(page, "Create new secret");
    const text = await dialogOf(page).locator("pre").innerText();
    // Nor does Back leave it without a warning.
    await page.evaluate(() => history.pushState(null, "", "#/vaults"));
    await page.evaluate(() => dispatchEvent(new HashChangeEvent("hashchange")));
    expect(await dialogOf(page).getByRole("alert").innerText()).toContain("You haven’t copied the secret");
    expect(page.url()).toContain("#/webhooks");
    await confirm(page, "Copy");
    await see(page, "The secret copied");
    expect(await readClipboard(page)).toBe(text);
    await confirm(page, "Done");
    await chooseAct(page, url, "Delete…");
    await confirm(page, "Delete webhook");
    await rowOf(page, name).waitFor({ state: "detached" });
    expect(await state()).toBeUndefined();
  });

  it("are tested, and list the last deliveries with what became of them", async () => {
    const vault = await makeVault(`Tested ${crypto.randomUUID()}`);
    const path = `/${crypto.randomUUID()}`;
    const url = inject("receiver") + path;
    await fetch(`${inject("receiver")}/control${path}`, { method: "PUT", body: "[204, 503]" });
    await admin("POST", `vaults/${vault}/webhooks`, { url });
    const page = await openView("webhooks");
    await rowOf(page, url).waitFor();
    await chooseAct(page, url, "Send a test…");
    await confirm(page, "Send a test");
    await see(dialogOf(page), "Accepted (204)");
    await confirm(page, "Send another test");
    await see(dialogOf(page), "The receiver answered 503.");
    expect(await checkLooks(page)).toBe("");
    await confirm(page, "Close");
    expect(await admin("GET", `vaults/${vault}/webhooks`)).toMatchObject([{ state: "ACTIVE", failures: 0 }]);
    const panel = await openSection(page, url, "Last deliveries");
    const results = panel.getByRole("table", { name: "Deliveries" }).locator("tbody").getByRole("row");
    await results.nth(1).waitFor();
    const texts = await results.allTextContents();
    expect(texts.map((text) => /(Accepted \(204\)|The receiver answered 503\.)(test|event)/.exec(text)?.slice(1))).toEqual([
      ["The receiver answered 503.", "test"],
      ["Accepted (204)", "test"],
    ]);
    expect(await checkLooks(page)).toBe("");
  });

  it("without a delivery say so", async () => {
    const vault = await makeVault(`Unused ${crypto.randomUUID()}`);
    const url = `https://example.com/${vault}`;
    await admin("POST", `vaults/${vault}/webhooks`, { url });
    const page = await openView("webhooks");
    await rowOf(page, url).waitFor();
    const panel = await openSection(page, url, "Last deliveries");
    await see(panel, "Nothing has been sent yet.");
    expect(await panel.getByRole("table").count()).toBe(0);
  });

  it("are loaded again after an act in the vault of that webhook alone", async () => {
    const vaults = [await makeVault(`Acted ${crypto.randomUUID()}`), await makeVault(`Left ${crypto.randomUUID()}`)];
    for (const vault of vaults) await admin("POST", `vaults/${vault}/webhooks`, { url: `https://example.com/${vault}` });
    const page = await openView("webhooks");
    for (const vault of vaults) await rowOf(page, vault).waitFor();
    const loaded: string[] = [];
    page.on("request", (request) => request.method() === "GET" && loaded.push(new URL(request.url()).pathname));
    await chooseAct(page, `https://example.com/${vaults[0]}`, "Change…");
    await dialogOf(page).getByLabel("Deliveries").selectOption("Stop");
    await confirm(page, "Save");
    await see(rowOf(page, vaults[0]!), "Disabled");
    expect(loaded).toEqual([`/v1/admin/vaults/${vaults[0]}/webhooks`]);
    expect(await rowOf(page, vaults[1]!).count()).toBe(1);
  });

  it("that fail come before those that work", async () => {
    const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
    const row = { state: "ACTIVE", pending: 0, createdAt: new Date().toISOString() };
    const json = [
      { id: "1", url: "https://works.example/", failures: 0, ...row },
      { id: "2", url: "https://fails.example/", failures: 1, ...row },
    ];
    await page.route("**/v1/admin/vaults", (route) => route.fulfill({ json: [{ id: "a", name: "A", webhooks: 2 }] }));
    await page.route("**/webhooks", (route) => route.fulfill({ json }));
    await page.goto("/console/#/webhooks");
    await expect
      .poll(() => page.locator(".row-name").allInnerTexts())
      .toEqual(["https://fails.example/", "https://works.example/"]);
  });
});

/** Backs all up by the dialog of the view. */
async function backUp(page: Page): Promise<void> {
  await press(page, "Back up now…");
  await runJob(page, () => confirm(page, "Back up"));
}

/** Opens the view of backups with an Item that was changed after the backup. */
async function openBackups(name: string, items: readonly NewItem[], change: object): Promise<Shown> {
  const seeded = await seed(items, { name });
  const opened = shown(await openAsBoth(seeded.token, "backups"), seeded);
  await backUp(opened.page);
  await opened.patch({ "/title": "After", ...change });
  return opened;
}

async function preview(page: Page, vault: string, item = ""): Promise<void> {
  await dialogOf(page).locator("select[name=vault]").selectOption(vault);
  await dialogOf(page)
    .getByLabel(/^Item title or ID/)
    .fill(item);
  await confirm(page, "Preview");
}
const seeInTime = (page: Page, text: string) => page.getByText(text).waitFor(PATIENT);

describe("backups", () => {
  it("are made, verified, and restore an Item that was changed since, after a look at what would be replaced", async () => {
    const name = `Backed up ${crypto.randomUUID()}`;
    const { page, items, load } = await openBackups(name, [login("Before")], {});
    await seeInTime(page, "The last backup was"); // without a reload
    expect(await checkLooks(page)).toBe("");
    await press(page, "Restore…");
    await preview(page, name, "not an id");
    await see(dialogOf(page), "Choose an item of the list, or paste its ID");
    await preview(page, name, items[0]);
    await seeInTime(page, "Changes made since then stay in its versions.");
    expect((await load()).title).toBe("After");
    await confirm(page, "Replace it");
    await expect.poll(async () => (await load()).title, PATIENT).toBe("Before");
    await press(page, "Verify…");
    await dialogOf(page).getByLabel("Data to verify").selectOption("Backups");
    await dialogOf(page)
      .getByLabel(/^Quick check/)
      .check();
    await runJob(page, () => confirm(page, "Verify"));
  });

  it("restore an Item by its title, and name what has changed since, without values", async () => {
    const name = `By title ${crypto.randomUUID()}`;
    const change = { "/fields/password/value": "changed-since" };
    const { page, load } = await openBackups(name, [login("Before"), login("Untouched")], change);
    await page.goto("/console/#/items");
    await listed(page, "After").waitFor();
    await page.goto("/console/#/backups");
    await press(page, "Restore…");
    await preview(page, name);
    await seeInTime(page, "1 item has changed since:");
    expect(await dialogOf(page).locator(".outcomes").innerText()).toMatch(/^After /);
    await confirm(page, "Cancel");
    await preview(page, name, "After");
    await seeInTime(page, "Restores “After” to ");
    await see(dialogOf(page), /^Now: version 2 of .*\. In the backup: version 1 of .*\. Changed: Title, password\.$/);
    expect(await page.content()).not.toContain("changed-since");
    expect(await checkLooks(page)).toBe("");
    await confirm(page, "Replace it");
    await expect.poll(async () => (await load()).title, PATIENT).toBe("Before");
  });
});

describe("keys", () => {
  it("show what each root key is used for, and put all under the active one", async () => {
    const page = await openView("keys");
    await see(rowOf(page, "k1"), "Active: encrypts and signs");
    await button(page, "Re-wrap all keys with the active root key").first().click();
    await runJob(page, () => confirm(page, "Re-wrap"));
    await rowOf(page, "Re-wrap all keys with the active root key").getByText("Done").first().waitFor(PATIENT);
    expect(await checkLooks(page)).toBe("");
  });

  it("of a vault are renewed from the list of vaults", async () => {
    const name = `Renewed ${crypto.randomUUID()}`;
    const vault = await makeVault(name);
    const keyOf = async () =>
      ((await admin("GET", "vaults")) as unknown as { id: string; dataKey: { id: string } }[]).find(({ id }) => id === vault)!
        .dataKey.id;
    const before = await keyOf();
    const page = await openView("vaults");
    await page.locator(".cards").waitFor();
    // Where other files have made more than 8 vaults. The table shows 200.
    const search = page.getByLabel("Search vaults");
    if ((await search.count()) > 0) await search.fill(name);
    await rowOf(page, name).waitFor();
    await chooseAct(page, name, "New key…");
    await confirm(page, "Renew key");
    await expect.poll(keyOf, PATIENT).not.toBe(before);
  });
});

it("a preview of a restore is named as one, and tells what the backup has lost", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  const vault = crypto.randomUUID();
  const finding = { kind: "content_missing", vault, detail: "the File is lost", repairable: false };
  const job = {
    id: crypto.randomUUID(),
    kind: "restore",
    dryRun: true,
    state: "done",
    progress: { done: 1, total: 1 },
    createdAt: new Date().toISOString(),
    endedAt: new Date().toISOString(),
    result: { restored: { vaults: 1, items: 3, kept: 0, leftOut: 0, existing: "none" } },
    findings: [finding],
  };
  await page.route("**/v1/admin/backups/vaults", (route) => route.fulfill({ json: { vaults: [{ id: vault, name: "Lost" }] } }));
  await page.route(`**/v1/admin/backups/vaults/${vault}`, (route) => route.fulfill({ json: [] }));
  await page.route("**/v1/admin/jobs", (route) =>
    route.fulfill({
      json: route.request().method() === "POST" ? job : [job, { ...job, id: crypto.randomUUID(), dryRun: undefined }],
    }),
  );
  await page.goto("/console/#/backups");
  await press(page, "Restore…");
  await confirm(page, "Preview");
  await see(dialogOf(page), "content missing");
  await see(dialogOf(page), "the File is lost");
  expect(await checkLooks(page)).toBe("");
  await page.keyboard.press("Escape");
  await page.goto("/console/#/keys");
  await see(rowOf(page, "Restore: preview"), "1 vault and 3 items would be restored");
  expect(await page.getByText("1 vault and 3 items restored").count()).toBe(1);
});

it("a job that has found something names it, and a running one is stopped", async () => {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  const job = { id: "1", progress: { done: 1, total: 4 }, createdAt: new Date().toISOString() };
  const finding = { kind: "row_unreadable", vault: "some-vault", detail: "the record does not open", repairable: false };
  await page.route("**/v1/admin/jobs", (route) =>
    route.fulfill({
      json: [
        { ...job, kind: "backup", state: "running", findings: [] },
        { ...job, id: "2", kind: "verify", state: "done", endedAt: job.createdAt, findings: [finding] },
      ],
    }),
  );
  const requests: string[] = [];
  await page.route("**/v1/admin/jobs/*", (route) => {
    requests.push(`${route.request().method()} ${new URL(route.request().url()).pathname}`);
    return route.fulfill({ json: job });
  });
  await page.goto("/console/#/keys");
  await see(rowOf(page, "Verify stored data"), "1 finding");
  const panel = await openPanel(page, "Verify stored data");
  await see(panel, "row unreadable");
  await see(panel, "the record does not open");
  await chooseAct(page, "Back up", "Stop");
  await expect.poll(() => requests).toEqual(["DELETE /v1/admin/jobs/1"]);
});
