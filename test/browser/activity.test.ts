import { readFile } from "node:fs/promises";
import { firstIdAt } from "@item-vault/model/ids";
import type { Page, Request } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { admin, makeToken, sendRequest } from "../sdk/support/requests.ts";
import { checkLooks } from "./support/accessibility.ts";
import { confirm, openAsBoth, openView, press, see, views } from "./support/console.ts";
import { fetchAsPage, reportOf } from "./support/faults.ts";
import { openPage } from "./support/page.ts";
import { chooseAct } from "./support/rows.ts";
import { login, type Seeded, seed } from "./support/seed.ts";

/** The views of the activity and of the health. */

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seed([login("Grafana"), login("GitHub")]);
  for (const item of seeded.items) await sendRequest("GET", `v1/vaults/${seeded.vault}/items/${item}`, seeded.token);
});

const rowOf = (page: Page, name: RegExp) => page.getByRole("row", { name });
const openActivity = (token: string, before?: (page: Page) => unknown) => openView("activity", { token, before });
const openHealth = (before?: (page: Page) => unknown) => openAsBoth(seeded.token, "health", { before });
const LOGS = "**/v1/activity?*";
const log = async (token: string, query = "") => (await sendRequest("GET", `v1/activity${query}`, token)) as unknown[];

/** Lets the page ask for other entries than it does. */
const askFor = (page: Page, path: string, change: (url: URL, request: Request) => void) =>
  page.route(path, async (route) => {
    const url = new URL(route.request().url());
    change(url, route.request());
    const headers = { ...(await route.request().allHeaders()), "sec-fetch-site": "same-origin" };
    return route.fulfill({ response: await route.fetch({ url: url.href, headers }) });
  });

/** Reloads the page until its log, which reads reach within seconds, has a row. */
async function expectEntry(page: Page, name: RegExp, text = ""): Promise<void> {
  const count = async () => {
    await page.reload();
    await rowOf(page, /created/)
      .first()
      .waitFor();
    return rowOf(page, name).filter({ hasText: text }).count();
  };
  await expect.poll(count, { timeout: 120_000 }).toBeGreaterThan(0);
}

describe("the activity", () => {
  it("lists who did what, and is filtered by Item, by kind and by vault", async () => {
    const page = await openActivity(seeded.token);
    const created = rowOf(page, /created Grafana/);
    await created.waitFor();
    await page.getByLabel("Item", { exact: true }).fill("GitHub");
    await created.waitFor({ state: "detached" });
    await page.getByLabel("Request").selectOption("created");
    await expect.poll(() => rowOf(page, /GitHub/).count()).toBe(1);
    await see(page, "1 matching entry in the whole log.");
    await press(page, "Clear");
    await created.waitFor();
    expect(await page.getByLabel("Item", { exact: true }).inputValue()).toBe("");
    await page.getByRole("combobox", { name: "Vault", exact: true }).selectOption(seeded.vault);
    await page.getByLabel("Request").selectOption("deleted");
    await see(page, "No entries.");
  });

  it("names the day and the program, and folds reads of lists into one row", async () => {
    const own = await seed([login("Folded")]);
    const page = await openActivity(own.token);
    for (let count = 0; count < 3; count++) await sendRequest("GET", `v1/vaults/${own.vault}/items`, own.token);
    await expectEntry(page, /viewed the item list \(\d+×\) node/);
    expect(await page.getByRole("region", { name: "Today" }).getByText("Chrome on Linux").count()).toBeGreaterThan(0);
  });

  it("names who has read to an administrator only, and who has written to everybody", async () => {
    const { vault, token, items } = await seed([login("Read")]);
    const reader = await makeToken({ [vault]: "r" }, "uuid");
    await sendRequest("GET", `v1/vaults/${vault}/items/${items[0]}`, reader.token);
    const page = await openActivity((await makeToken({ [vault]: "r" }, "uuid")).token);
    await expectEntry(page, /viewed Read/, `a token (${reader.id.slice(0, 8)})`);
    await expectEntry(await openAsBoth(token, "activity"), /viewed Read/, "test");
    await rowOf(page, /test created Read/).waitFor();
  });

  it("is filtered by days, and saved as a file with all that matches", async () => {
    const page = await openActivity(seeded.token);
    await page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await see(page, "No entries.");
    await page.getByLabel("To", { exact: true }).fill("");
    await page.getByLabel("From").fill("2020-01-01");
    await page.getByLabel("Request").selectOption("created");
    const count = Number((await page.getByText(/^\d matching entries/).innerText())[0]); // the vault, and its Items
    await press(page, "Export");
    const saving = page.waitForEvent("download");
    await press(page, "Save as CSV");
    const download = await saving;
    expect(download.suggestedFilename()).toBe("activity.csv");
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
    expect([lines.length, lines[1]!.includes(",CREATE,SUCCESS,")]).toEqual([count + 1, true]);
    await see(page, `${count} entries saved.`);
  });

  it("shows an entry whose record does not open as a damaged one, and says until when entries may be missing", async () => {
    const broken = [
      { requestId: "0192abcd-0000-7000-8000-000000000000", timestamp: "2026-11-20T10:00:00.000Z", broken: "integrity" },
      { requestId: "", broken: "integrity" },
    ];
    const page = await openActivity(seeded.token, (opened) =>
      opened.route(LOGS, async (route) => {
        const response = await fetchAsPage(route);
        const headers = { ...response.headers(), "item-vault-log-gap": "2026-11-20T10:00:00.000Z" };
        return route.fulfill({ response, headers, json: [...broken, ...((await response.json()) as object[])] });
      }),
    );
    await rowOf(page, /created Grafana/).waitFor();
    expect(await rowOf(page, /damaged entry/).count()).toBe(2);
    await see(page, /^Up to .*2026.*, reads, denials and sign-ins may be missing: a log had too many entries\.$/);
  });

  it("searches the whole log for entries that match, not only those that are loaded, and says what the chart covers", async () => {
    const { vault, token, items } = await seed([login("Rare")]);
    await sendRequest("DELETE", `v1/vaults/${vault}/items/${items[0]}`, token);
    await Promise.all(Array.from({ length: 5 }, () => sendRequest("GET", `v1/vaults/${vault}`, token)));
    await expect.poll(async () => (await log(token, "?action=READ")).length).toBe(5);
    const before = firstIdAt(Date.now());
    // Pages of one entry, so that the creation of the Item is not among those that are loaded first. The log ends before the requests
    // of the page itself, which enter it at any time.
    const page = await openActivity(token, (opened) =>
      askFor(opened, LOGS, ({ searchParams }) => {
        searchParams.set("limit", "1");
        if (!searchParams.has("before")) searchParams.set("before", before);
      }),
    );
    await see(page, /^5 entries since .*; older ones are not loaded\.$/);
    await page.getByRole("figure", { name: /Requests per day since/ }).waitFor();
    await page.getByLabel("Request").selectOption("created");
    await rowOf(page, new RegExp(`created an item \\(${items[0]!.slice(0, 8)}`)).waitFor();
    await see(page, "2 matching entries in the whole log.");
    await page.getByLabel("Request").selectOption("");
    await press(page, "Load older entries");
    await see(page, "8 entries in the whole log.");
    await page.getByText("Show as table").click();
    await page.getByRole("table", { name: "Requests per day" }).getByRole("rowheader").last().waitFor();
  });

  it("of the administrator is a log of its own", async () => {
    await admin("POST", "tokens", { name: "Newest of the log", vaults: { [seeded.vault]: "r" } });
    // The newest entries are enough: the log has hundreds of the other test files.
    const page = await openAsBoth(seeded.token, "activity", {
      before: (opened) =>
        opened.route("**/v1/admin/activity?*", async (route) => {
          const response = await fetchAsPage(route);
          const { link: _, ...headers } = response.headers();
          return route.fulfill({ response, headers });
        }),
    });
    await page.getByLabel("Log", { exact: true }).selectOption("admin");
    await expect.poll(() => rowOf(page, /the administrator issued the token/).count()).toBeGreaterThan(0);
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
    const page = await openHealth();
    await openReport(page);
    await expect.poll(() => rowOf(page, /Database \(D1\) Works/).count()).toBe(1);
    const names = await page.getByRole("table", { name: "Parts of the service" }).getByRole("rowheader").allTextContents();
    expect(names.filter((name) => !/^[A-Z]/.test(name))).toEqual([]);
    await see(fact(page, "Storage"), /^[\d.]+ GB of 10 GB free\.$/);
    await page.getByRole("figure", { name: /Largest vaults/ }).waitFor();
  });

  it("says what each part means, and where something can be done", async () => {
    const at = new Date(Date.now() - 5 * 3_600_000).toISOString();
    const message = "As the service says it";
    const page = await openHealth((opened) =>
      reportOf(
        opened,
        { service: "backups", status: "WARNING", message, at },
        { service: "capacity", status: "ERROR", message, used: 9_600_000_000, limit: 10_000_000_000 },
        { service: "keys", status: "WARNING", message, count: 1 },
        { service: "tokens", status: "WARNING", message, count: 3 },
        { service: "data", status: "WARNING", message },
        { service: "jobs", status: "ACTIVE", message },
        { service: "r2", status: "ACTIVE", message },
        { service: "of a newer release", status: "ERROR", message },
      ),
    );
    await see(page, "6 things need attention.");
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
    await see(fact(page, "Service"), "of a newer release: not working. See the technical report for the reason.");
    expect(await fact(page, "Service").getByRole("link").count()).toBe(0);
    await rowOf(page, /of a newer release Fails As the service says it/).waitFor();
    expect(await checkLooks(page)).toBe("");
  });

  it("does not say that the backups work before there is one", async () => {
    // Other files of this run make backups.
    const page = await openHealth((opened) =>
      reportOf(opened, { service: "backups", status: "ACTIVE", message: "No backup yet" }),
    );
    await openReport(page);
    for (const place of [rowOf(page, /^Backups/), page.locator(".facts li")]) {
      await place.getByText("None yet", { exact: true }).waitFor();
      expect(await place.getByText(/Works|Good/).count()).toBe(0);
    }
  });

  it("leads nobody to views that only an administrator opens", async () => {
    const page = await openView("health", { token: seeded.token });
    await fact(page, "Backups").waitFor();
    expect(await page.locator(".facts").getByRole("link").count()).toBe(0);
  });
});

const reportTokens = (page: Page, count: number) =>
  reportOf(page, { service: "tokens", status: "WARNING", message: "Tokens end", count });

describe("the navigation", () => {
  it("asks for what needs attention for an administrator alone", async () => {
    const page = await openPage({ token: seeded.token });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.goto("/console/#/activity");
    await page.getByRole("row").nth(1).waitFor();
    expect(asked).not.toContain("/health");
  });

  it("has the number of tokens as it is after one was revoked", async () => {
    const name = `Ends soon ${crypto.randomUUID()}`;
    await admin("POST", "tokens", { name, vaults: { [seeded.vault]: "r" } });
    const page = await openAsBoth(seeded.token, "tokens", { before: (opened) => reportTokens(opened, 2) });
    await views(page)
      .getByRole("link", { name: /^Tokens\W+2\W+need attention$/ })
      .waitFor();
    await reportTokens(page, 1);
    await chooseAct(page, name, "Revoke…");
    await confirm(page, "Revoke token");
    await views(page)
      .getByRole("link", { name: /^Tokens\W+1\W+needs attention$/ })
      .waitFor();
    await expect.poll(() => page.getByRole("row").filter({ hasText: name }).count()).toBe(0);
  });
});
