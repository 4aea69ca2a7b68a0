import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { admin, makeToken, sendRequest } from "../sdk/support/requests.ts";
import { firstIdAt } from "@item-vault/model/ids";
import type { Page } from "playwright-core";
import { checkLooks } from "./support/accessibility.ts";
import { reportOf } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { chooseAct } from "./support/rows.ts";
import { login, type Seeded, seed } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** The views of the activity and of the health. */

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed([login("Grafana"), login("GitHub")]);
  for (const item of seeded.items) await sendRequest("GET", `v1/vaults/${seeded.vault}/items/${item}`, seeded.token);
});

describe("the activity", () => {
  it("lists who did what, and is filtered by Item, by kind and by vault", async () => {
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/#/activity");
    const created = page.getByRole("row", { name: /created Grafana/ });
    await created.waitFor();
    const rows = page.getByRole("row");
    await page.getByLabel("Item", { exact: true }).fill("GitHub");
    await created.waitFor({ state: "detached" });
    await page.getByLabel("Request").selectOption("created");
    await expect.poll(() => rows.filter({ hasText: "GitHub" }).count()).toBe(1);
    await page.getByText("1 matching entry in the whole log.").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await created.waitFor();
    expect(await page.getByLabel("Item", { exact: true }).inputValue()).toBe("");
    await page.getByRole("combobox", { name: "Vault", exact: true }).selectOption(seeded.vault);
    await page.getByLabel("Request").selectOption("deleted");
    await page.getByText("No entries.").waitFor();
  });

  it("names the day and the program, and folds reads of lists into one row", async () => {
    const own = await seed([login("Folded")]);
    const page = await openPage({ token: own.token });
    await page.goto("/console/#/activity");
    const today = page.getByRole("region", { name: "Today" });
    await today.getByRole("row", { name: /created Folded/ }).waitFor();
    for (let count = 0; count < 3; count++) await sendRequest("GET", `v1/vaults/${own.vault}/items`, own.token);
    await expect
      .poll(
        async () => {
          await page.reload();
          await today.getByRole("row", { name: /created Folded/ }).waitFor();
          return today.getByRole("row", { name: /viewed the item list \(\d+×\) node/ }).count();
        },
        { timeout: 120_000 },
      )
      .toBeGreaterThan(0);
    expect(await today.getByText("Chrome on Linux").count()).toBeGreaterThan(0);
  });

  it("names who has read to an administrator only, and who has written to everybody", async () => {
    const { vault, token, items } = await seed([login("Read")]);
    const reader = await makeToken({ [vault]: "r" }, "uuid");
    await sendRequest("GET", `v1/vaults/${vault}/items/${items[0]}`, reader.token);
    const page = await openPage({ token: (await makeToken({ [vault]: "r" }, "uuid")).token });
    const administrator = await openPage();
    await signIn(administrator, token, inject("secrets").ADMIN_TOKEN);
    for (const [name, shown] of [
      [`a person (${reader.id.slice(0, 8)})`, page],
      ["test", administrator],
    ] as const) {
      await expect
        .poll(
          async () => {
            await shown.goto("/console/#/activity");
            await shown.reload();
            await shown.getByRole("row", { name: /created Read/ }).waitFor();
            return shown
              .getByRole("row", { name: /viewed Read/ })
              .filter({ hasText: name })
              .count();
          },
          { timeout: 120_000 },
        )
        .toBe(1);
    }
    await page.getByRole("row", { name: /test created Read/ }).waitFor();
  });

  it("is filtered by days, and saved as a file with all that matches", async () => {
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/#/activity");
    await page.getByRole("row", { name: /created Grafana/ }).waitFor();
    await page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await page.getByText("No entries.").waitFor();
    await page.getByLabel("To", { exact: true }).fill("");
    await page.getByLabel("From").fill("2020-01-01");
    await page.getByLabel("Request").selectOption("created");
    await page.getByText(/^\d matching entries/).waitFor(); // the vault, and its Items
    const count = Number((await page.getByText(/^\d matching entries/).innerText())[0]);
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("activity.csv");
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
    expect([lines.length, lines[1]!.includes(",CREATE,SUCCESS,")]).toEqual([count + 1, true]);
    await page.getByText(`${count} entries saved.`).waitFor();
  });

  it("shows an entry whose record does not open as a damaged one, among the others", async () => {
    const page = await openPage({ token: seeded.token });
    const broken = [
      { requestId: "0192abcd-0000-7000-8000-000000000000", timestamp: "2026-11-20T10:00:00.000Z", broken: "integrity" },
      { requestId: "", broken: "integrity" },
    ];
    await page.route("**/v1/activity?*", async (route) => {
      const headers = { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" };
      const response = await route.fetch({ headers });
      return route.fulfill({ response, json: [...broken, ...((await response.json()) as object[])] });
    });
    await page.goto("/console/#/activity");
    await page.getByRole("row", { name: /created Grafana/ }).waitFor();
    expect(await page.getByRole("row", { name: /damaged entry/ }).count()).toBe(2);
  });

  it("says until when entries of the log may be missing", async () => {
    const page = await openPage({ token: seeded.token });
    await page.route("**/v1/activity?*", async (route) => {
      const response = await route.fetch({
        headers: { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" },
      });
      return route.fulfill({ response, headers: { ...response.headers(), "item-vault-log-gap": "2026-11-20T10:00:00.000Z" } });
    });
    await page.goto("/console/#/activity");
    const gap = page.getByText(/^Up to .*2026.*, reads, denials and sign-ins may be missing: a log had too many entries\.$/);
    await expect.poll(() => gap.count()).toBe(1);
  });

  it("searches the whole log for entries that match, not only those that are loaded, and says what the chart covers", async () => {
    const { vault, token, items } = await seed([login("Rare")]);
    await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[0]}`, token);
    await Promise.all(Array.from({ length: 5 }, () => sendRequest("GET", `v1/vaults/${vault}`, token)));
    await expect.poll(async () => ((await sendRequest("GET", "v1/activity?action=READ", token)) as unknown[]).length).toBe(5);
    const before = firstIdAt(Date.now());
    const page = await openPage({ token });
    // Pages of one entry, so that the creation of the Item is not among those that are loaded first. The log ends before the requests
    // of the page itself, which enter it at any time.
    await page.route("**/v1/activity?*", async (route) => {
      const headers = { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" };
      const url = new URL(route.request().url());
      url.searchParams.set("limit", "1");
      if (!url.searchParams.has("before")) url.searchParams.set("before", before);
      return route.fulfill({ response: await route.fetch({ url: url.href, headers }) });
    });
    await page.goto("/console/#/activity");
    await page.getByText(/^5 entries since .*; older ones are not loaded\.$/).waitFor();
    await page.getByRole("figure", { name: /Requests per day since/ }).waitFor();
    await page.getByLabel("Request").selectOption("created");
    await page.getByRole("row", { name: new RegExp(`created an item \\(${items[0]!.slice(0, 8)}`) }).waitFor();
    await page.getByText("2 matching entries in the whole log.").waitFor();
    await page.getByLabel("Request").selectOption("");
    await page.getByRole("button", { name: "Load older entries" }).click();
    await page.getByText("8 entries in the whole log.").waitFor();
    await page.getByText("Show as table").click();
    await page.getByRole("table", { name: "Requests per day" }).getByRole("rowheader").last().waitFor();
  });

  it("and the health have no violation of accessibility, light and dark, wide and narrow", async () => {
    const page = await openPage();
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    for (const view of ["activity", "health"]) {
      await page.goto(`/console/#/${view}`);
      if (view === "health") await openReport(page);
      await page.getByRole("row").nth(1).waitFor();
      await page.getByRole("figure").first().waitFor();
      expect(await checkLooks(page)).toBe("");
    }
  });

  it("of the administrator is a log of its own", async () => {
    const page = await openPage();
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    // The newest entries are enough: the log has hundreds of the other test files.
    await page.route("**/v1/admin/activity?*", async (route) => {
      const url = route.request().url().replace("limit=100", "limit=20");
      const response = await route.fetch({
        url,
        headers: { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" },
      });
      const { link: _, ...headers } = response.headers();
      return route.fulfill({ response, headers });
    });
    await admin("POST", "tokens", { name: "Newest of the log", vaults: { [seeded.vault]: "r" } });
    await page.goto("/console/#/activity");
    await page.getByLabel("Log", { exact: true }).selectOption("admin");
    await expect.poll(() => page.getByRole("row", { name: /the administrator issued the token/ }).count()).toBeGreaterThan(0);
  });
});

/** Opens the technical report, which is open already when something is wrong. */
async function openReport(page: Page): Promise<void> {
  const report = page.locator("details").filter({ hasText: "Technical report" });
  await report.waitFor();
  if ((await report.getAttribute("open")) === null) await report.getByText("Technical report").click();
}

const fact = (page: Page, title: string) =>
  page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title, exact: true }) });

describe("the health", () => {
  it("shows the state of each dependency, the size of the database, and to an administrator the largest vaults", async () => {
    const page = await openPage();
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/health");
    await openReport(page);
    await expect.poll(() => page.getByRole("row", { name: /Database \(D1\) Works/ }).count()).toBe(1);
    const names = await page.getByRole("table", { name: "Parts of the service" }).getByRole("rowheader").allTextContents();
    expect(names.filter((name) => !/^[A-Z]/.test(name))).toEqual([]);
    await fact(page, "Storage")
      .getByText(/^[\d.]+ GB of 10 GB free\.$/)
      .waitFor();
    await page.getByRole("figure", { name: /Largest vaults/ }).waitFor();
  });

  it("says what each part means, and where something can be done", async () => {
    const page = await openPage();
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    const at = new Date(Date.now() - 5 * 3_600_000).toISOString();
    const message = "As the service says it";
    await reportOf(
      page,
      { service: "backups", status: "WARNING", message, at },
      { service: "capacity", status: "ERROR", message, used: 9_600_000_000, limit: 10_000_000_000 },
      { service: "keys", status: "WARNING", message, count: 1 },
      { service: "tokens", status: "WARNING", message, count: 3 },
      { service: "data", status: "WARNING", message },
      { service: "jobs", status: "ACTIVE", message },
      { service: "r2", status: "ACTIVE", message },
      { service: "of a newer release", status: "ERROR", message },
    );
    await page.goto("/console/#/health");
    await page.getByText("6 things need attention.").waitFor();
    for (const [title, text, view] of [
      [
        "Backups",
        "The last backup was 5 hours ago. It is late, incomplete or damaged: see the technical report for the reason.",
        "backups",
      ],
      ["Storage", "Only 400 MB of 10 GB free. Writes that need more are refused: delete what you no longer need.", "vaults"],
      ["Root keys", "1 retired key is still in use. Re-wrap all keys with the active root key.", "keys"],
      ["Tokens", "3 tokens expire within 14 days. Replace them before then to avoid an outage.", "tokens"],
      ["Stored data", "Damaged data was found in the last 24 hours. Run “Verify” to see it; a backup can restore it.", "backups"],
      ["Jobs", "No job has failed.", "backups"],
    ] as const) {
      await fact(page, title).getByText(text, { exact: true }).waitFor();
      expect(await fact(page, title).getByRole("link").getAttribute("href")).toBe(`#/${view}`);
    }
    await fact(page, "Service").getByText("of a newer release: not working. See the technical report for the reason.").waitFor();
    expect(await fact(page, "Service").getByRole("link").count()).toBe(0);
    await page.getByRole("row", { name: /of a newer release Fails As the service says it/ }).waitFor();
    expect(await checkLooks(page)).toBe("");
  });

  it("leads nobody to views that only an administrator opens", async () => {
    const page = await openPage({ token: seeded.token });
    await page.goto("/console/#/health");
    await fact(page, "Backups").waitFor();
    expect(await page.locator(".facts").getByRole("link").count()).toBe(0);
  });
});

describe("the navigation", () => {
  it("has the number of tokens that end soon, and of root keys to replace, for an administrator alone", async () => {
    const warnings = [
      { service: "tokens", status: "WARNING", message: "Tokens end", count: 12 },
      { service: "keys", status: "WARNING", message: "Keys are retired", count: 1 },
    ];
    const page = await openPage();
    await reportOf(page, ...warnings);
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/activity");
    const views = page.getByRole("navigation", { name: "Views" });
    await views.getByRole("link", { name: /^Tokens\W+12\W+need attention$/ }).waitFor();
    await views.getByRole("link", { name: /^Keys\W+1\W+needs attention$/ }).waitFor();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await views.getByRole("link", { name: "Backups", exact: true }).waitFor();
    expect(await checkLooks(page)).toBe("");
    const other = await openPage({ token: seeded.token });
    const asked: string[] = [];
    other.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await other.goto("/console/#/activity");
    await other.getByRole("row").nth(1).waitFor();
    expect(asked).not.toContain("/health");
  });

  it("has the number of tokens as it is after one was revoked", async () => {
    const name = `Ends soon ${crypto.randomUUID()}`;
    await admin("POST", "tokens", { name, vaults: { [seeded.vault]: "r" } });
    const page = await openPage();
    await reportOf(page, { service: "tokens", status: "WARNING", message: "Tokens end", count: 2 });
    await signIn(page, seeded.token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/tokens");
    const views = page.getByRole("navigation", { name: "Views" });
    await views.getByRole("link", { name: /^Tokens\W+2\W+need attention$/ }).waitFor();
    await reportOf(page, { service: "tokens", status: "WARNING", message: "Tokens end", count: 1 });
    await chooseAct(page, name, "Revoke…");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke token" }).click();
    await views.getByRole("link", { name: /^Tokens\W+1\W+needs attention$/ }).waitFor();
    await expect.poll(() => page.getByRole("row").filter({ hasText: name }).count()).toBe(0);
  });
});
