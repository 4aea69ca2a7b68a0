import type { Page } from "playwright-core";
import { describe, expect, inject, it } from "vitest";
import { admin, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { readClipboard } from "./support/clipboard.ts";
import { openPage } from "./support/page.ts";
import { actsOf, chooseAct, openPanel, openSection } from "./support/rows.ts";
import { login, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** Webhooks, backups, jobs and keys, as the administrator sees them. */

async function openView(view: string): Promise<Page> {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
  await page.goto(`/console/#/${view}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

const dialog = (page: Page) => page.getByRole("dialog");
const press = (page: Page, name: string) => dialog(page).getByRole("button", { name, exact: true }).click();
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
    await page.getByRole("button", { name: "Add webhook" }).click();
    await dialog(page).getByLabel("Vault").selectOption(name);
    await dialog(page).getByLabel("URL").fill("https://example.com/added");
    await press(page, "Add webhook");
    const text = await dialog(page).locator("pre").innerText();
    expect(text).toMatch(/^whsec_/);
    await page.keyboard.press("Escape");
    expect(await dialog(page).getByRole("alert").innerText()).toContain("You haven’t copied the secret");
    await press(page, "Close without copying");
    await rowOf(page, name).getByText("https://example.com/added").waitFor();
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
    await dialog(page).getByLabel("Deliveries").selectOption("Stop");
    await press(page, "Save");
    await rowOf(page, name).getByText("Disabled").waitFor();
    expect(await state()).toBe("DISABLED");
    await chooseAct(page, url, "Change…");
    await dialog(page).getByLabel("Deliveries").selectOption("Resume from now");
    await press(page, "Save");
    await rowOf(page, name).getByText("Active").waitFor();
    expect(await state()).toBe("ACTIVE");
    await chooseAct(page, url, "New secret…");
    await press(page, "Create new secret");
    const text = await dialog(page).locator("pre").innerText();
    // Nor does Back leave it without a warning.
    await page.evaluate(() => history.pushState(null, "", "#/vaults"));
    await page.evaluate(() => dispatchEvent(new HashChangeEvent("hashchange")));
    expect(await dialog(page).getByRole("alert").innerText()).toContain("You haven’t copied the secret");
    expect(page.url()).toContain("#/webhooks");
    await press(page, "Copy");
    await page.getByText("The secret copied").waitFor();
    expect(await readClipboard(page)).toBe(text);
    await press(page, "Done");
    await chooseAct(page, url, "Delete…");
    await press(page, "Delete webhook");
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
    await press(page, "Send a test");
    await dialog(page).getByText("Accepted (204)").waitFor();
    await press(page, "Send another test");
    await dialog(page).getByText("The receiver answered 503.").waitFor();
    expect(await checkLooks(page)).toBe("");
    await press(page, "Close");
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
    await panel.getByText("Nothing has been sent yet.").waitFor();
    expect(await panel.getByRole("table").count()).toBe(0);
  });

  it("that are damaged, or fail, say so", async () => {
    const page = await openPage({ token: inject("secrets").ADMIN_TOKEN });
    const at = new Date().toISOString();
    const failing = { enabled: true, state: "PAUSED", createdAt: at, failures: 12, pending: 3 };
    await page.route("**/v1/admin/vaults", (route) =>
      route.fulfill({ json: [{ id: "some-vault", name: "Some vault", webhooks: 2 }] }),
    );
    await page.route("**/webhooks", (route) =>
      route.fulfill({
        json: [
          { id: "1", url: "https://a.example/", ...failing, lastError: { kind: "status", status: 500, at } },
          { id: "2", broken: "integrity", ...failing, lastError: { kind: "integrity", at } },
        ],
      }),
    );
    await page.goto("/console/#/webhooks");
    await rowOf(page, "https://a.example/").getByText("The receiver answered 500.").waitFor();
    await rowOf(page, "https://a.example/").getByText("3 pending · 12 failed").waitFor();
    expect(await actsOf(page, "Damaged webhook 2")).toEqual(["Delete…"]);
  });
});

describe("backups", () => {
  it("are made, verified, and restore an Item that was changed since, after a look at what would be replaced", async () => {
    const name = `Backed up ${crypto.randomUUID()}`;
    const { vault, items, token } = await seed([login("Before")], { name });
    const page = await openView("backups");
    await page.getByRole("button", { name: "Back up now…" }).click();
    await runJob(page, () => press(page, "Back up"));
    await page.getByText("The last backup was").waitFor(PATIENT); // without a reload
    expect(await checkLooks(page)).toBe("");
    const path = `v1/vaults/${vault}/items/${items[0]}`;
    await sendRequest("PATCH", path, token, [{ op: "replace", path: "/title", value: "After" }]);
    await page.getByRole("button", { name: "Restore…" }).click();
    await dialog(page).locator("select[name=vault]").selectOption(name);
    await dialog(page)
      .getByLabel(/^Item title or ID/)
      .fill("not an id");
    await press(page, "Preview");
    await dialog(page).getByText("Choose an item of the list, or paste its ID").waitFor();
    await dialog(page)
      .getByLabel(/^Item title or ID/)
      .fill(items[0]!);
    await press(page, "Preview");
    await dialog(page).getByText("Changes made since then stay in its versions.").waitFor(PATIENT);
    expect(((await sendRequest("GET", path, token)) as { title: string }).title).toBe("After");
    await press(page, "Replace it");
    await expect.poll(async () => ((await sendRequest("GET", path, token)) as { title: string }).title, PATIENT).toBe("Before");
    await page.getByRole("button", { name: "Verify…" }).click();
    await dialog(page).getByLabel("Data to verify").selectOption("Backups");
    await dialog(page)
      .getByLabel(/^Quick check/)
      .check();
    await runJob(page, () => press(page, "Verify"));
  });

  it("restore an Item by its title, and name what has changed since, without values", async () => {
    const name = `By title ${crypto.randomUUID()}`;
    const { vault, items, token } = await seed([login("Before"), login("Untouched")], { name });
    const page = await openPage();
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/backups");
    await page.getByRole("button", { name: "Back up now…" }).click();
    await runJob(page, () => press(page, "Back up"));
    const path = `v1/vaults/${vault}/items/${items[0]}`;
    await sendRequest("PATCH", path, token, [
      { op: "replace", path: "/title", value: "After" },
      { op: "replace", path: "/fields/password/value", value: "changed-since" },
    ]);
    await page.goto("/console/#/items");
    await page.locator(".rows").getByRole("link", { name: "After" }).waitFor();
    await page.goto("/console/#/backups");
    await page.getByRole("button", { name: "Restore…" }).click();
    await dialog(page).locator("select[name=vault]").selectOption(name);
    await press(page, "Preview");
    await dialog(page).getByText("1 item has changed since:").waitFor(PATIENT);
    expect(await dialog(page).locator(".outcomes").innerText()).toMatch(/^After /);
    await press(page, "Cancel");
    await dialog(page).locator("select[name=vault]").selectOption(name);
    await dialog(page)
      .getByLabel(/^Item title or ID/)
      .fill("After");
    await press(page, "Preview");
    await dialog(page).getByText("Restores “After” to ").waitFor(PATIENT);
    await dialog(page)
      .getByText(/^Now: version 2 of .*\. In the backup: version 1 of .*\. Changed: Title, password\.$/)
      .waitFor();
    expect(await page.content()).not.toContain("changed-since");
    expect(await checkLooks(page)).toBe("");
    await press(page, "Replace it");
    await expect.poll(async () => ((await sendRequest("GET", path, token)) as { title: string }).title, PATIENT).toBe("Before");
  });
});

describe("keys", () => {
  it("show what each root key is used for, and put all under the active one", async () => {
    const page = await openView("keys");
    await rowOf(page, "k1").getByText("Active: encrypts and signs").waitFor();
    await page.getByRole("button", { name: "Re-wrap all keys with the active root key" }).first().click();
    await runJob(page, () => press(page, "Re-wrap"));
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
    await press(page, "Renew key");
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
  await page.getByRole("button", { name: "Restore…" }).click();
  await press(page, "Preview");
  await dialog(page).getByText("content missing").waitFor();
  await dialog(page).getByText("the File is lost").waitFor();
  expect(await checkLooks(page)).toBe("");
  await page.keyboard.press("Escape");
  await page.goto("/console/#/keys");
  await rowOf(page, "Restore: preview").getByText("1 vault and 3 items would be restored").waitFor();
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
  await rowOf(page, "Verify stored data").getByText("1 finding").waitFor();
  const panel = await openPanel(page, "Verify stored data");
  await panel.getByText("row unreadable").waitFor();
  await panel.getByText("the record does not open").waitFor();
  await chooseAct(page, "Back up", "Stop");
  await expect.poll(() => requests).toEqual(["DELETE /v1/admin/jobs/1"]);
});
