import { mkdir, writeFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { dialogsOf } from "./support/dialogs.ts";
import { openPage } from "./support/page.ts";
import { acceptDialogs } from "./support/problems.ts";
import { makeItems, type NewItem } from "./support/seed.ts";
import { signIn } from "./support/session.ts";
import { type Addressed, viewsOf } from "./support/views.ts";

/** Pictures of every view and dialog in both looks and at three widths, for people who look at them: `npm run pictures` writes them. */

/** The folder of the pictures. */
const FOLDER = process.env["PICTURES"] ?? "";
const WIDTHS = [390, 1024, 1440] as const;

const ITEMS: readonly (readonly [title: string, category: string, username: string, tags: readonly string[]])[] = [
  ["AWS root account", "LOGIN", "root@example.com", ["production", "cloud"]],
  ["Bank", "BANK_ACCOUNT", "", ["finance"]],
  ["Company card", "CREDIT_CARD", "", ["finance"]],
  ["GitHub", "LOGIN", "ada", ["code"]],
  ["Mail", "EMAIL_ACCOUNT", "ada@example.com", []],
  ["Office Wi-Fi", "WIRELESS_ROUTER", "", ["office"]],
  ["Payments API", "API_CREDENTIAL", "", ["production"]],
  ["Postgres", "DATABASE", "admin", ["production"]],
  ["Recovery codes", "SECURE_NOTE", "", []],
  ["Server 2", "SERVER", "deploy", ["production"]],
  ["Server 10", "SERVER", "deploy", ["production"]],
  ["Status page", "LOGIN", "ops@example.com", []],
];

const GRAFANA: NewItem = {
  title: "Grafana",
  favorite: true,
  tags: ["monitoring", "production"],
  urls: [{ primary: true, href: "https://grafana.example.com" }],
  sections: [{ id: "database", label: "Database" }],
  fields: [
    { id: "username", purpose: "USERNAME", value: "ada@example.com" },
    { id: "password", purpose: "PASSWORD", value: "correct-horse-battery-staple" },
    { id: "otp", type: "OTP", label: "one-time password", value: "JBSWY3DPEHPK3PXP" },
    { id: "host", section: { id: "database" }, label: "server", value: "db.example.com:5432" },
    { id: "key", section: { id: "database" }, type: "CONCEALED", label: "password", value: "another-secret" },
    { id: "contact", section: { id: "database" }, type: "EMAIL", label: "contact", value: "dba@example.com" },
  ],
};

/** The views that need no administrator. */
const WORK = ["items", "deleted", "import", "passwords", "activity", "health"];

/** Files at which the import stops, each for another reason. */
const STOPPED: Readonly<Record<string, Buffer>> = {
  "of no known format": Buffer.from("one\n1\n"),
  "with columns of no known app": Buffer.from("one,two,password\n1,2,x\n"),
  "not in UTF-8": Buffer.from("name,url,username,password\nCaf\xe9,https://example.com,ada,x\n", "latin1"),
  "with a row too long": Buffer.from("name,url,username,password\nShop,,ada,x\nMail,https://example.com,ada,x,y\n"),
};

const SCREENS = WIDTHS.flatMap((width) => (["light", "dark"] as const).map((look) => [width, look] as const));
type Screen = (typeof SCREENS)[number];

/** Opens a page with a session of these tokens. */
async function openAs([width, look]: Screen, ...tokens: readonly string[]): Promise<Page> {
  const page = await openPage({ width, height: width < 720 ? 780 : 900, colorScheme: look });
  await signIn(page, ...tokens);
  return page;
}

/** Writes a picture, and returns its size in bytes. */
async function write(page: Page, name: string, [width, look]: Screen): Promise<number> {
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  await writeFile(`${FOLDER}/${name}-${width}-${look}.png`, picture);
  return picture.length;
}

/** Writes pictures of the views that need no Item, and returns the names of the views. */
async function writeEmptyViews(page: Page, state: string, screen: Screen, shown?: readonly string[]): Promise<string[]> {
  const written: string[] = [];
  for (const [name, path] of viewsOf({ vault: "", item: "", deleted: "" })) {
    if (path !== name || shown?.includes(name) === false) continue;
    await page.goto("about:blank");
    await page.goto(`/console/#/${path}`);
    await page.locator("main h1, main .empty").first().waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await page.waitForTimeout(500); // What it loads.
    await expect.poll(() => page.getByText("Loading…").count()).toBe(0);
    await write(page, `${state} ${name}`, screen);
    written.push(name);
  }
  return written;
}

// First: later tests make vaults.
describe.runIf(FOLDER !== "")("pictures of an empty service", () => {
  beforeAll(() => void mkdir(FOLDER, { recursive: true }));

  it.each(SCREENS)("at %i pixels, %s", async (...screen) => {
    const page = await openAs(screen, inject("secrets").ADMIN_TOKEN);
    expect(await writeEmptyViews(page, "empty service", screen)).toContain("vaults");
  });
});

describe.runIf(FOLDER !== "")("pictures", () => {
  let token: string;
  let empty: string;
  let narrow: Readonly<Record<string, string>>;
  let ids: Addressed;

  beforeAll(async () => {
    const [team, production] = [await makeVault("Team"), await makeVault("Production infrastructure, Europe and Asia")];
    ({ token } = await makeToken({ [team]: "rwd", [production]: "rwd" }, "uuid"));
    const [item] = await makeItems(token, team, [GRAFANA]);
    const made = ITEMS.map(([title, category, username, tags]) => ({
      title,
      category,
      tags,
      fields: [
        { id: "username", purpose: "USERNAME", value: username },
        { id: "password", purpose: "PASSWORD", value: "secret" },
      ],
    }));
    const [first] = await makeItems(token, production, made.slice(0, 6));
    await makeItems(token, team, made.slice(6));
    const [deleted] = await makeItems(token, team, [{ title: "Old CI server", category: "SERVER" }]);
    await sendRequest("DELETE", `v1/vaults/${team}/items/${deleted}`, token);
    await sendRequest("PATCH", `v1/vaults/${team}/items/${item}`, token, [
      { op: "replace", path: "/fields/password/value", value: "a-newer-password" },
    ]);
    await sendRequest("POST", `v1/vaults/${team}/items/${item}/files?name=dashboard.json`, token, '{"panels":[]}');
    await sendRequest("POST", `v1/vaults/${production}/items/${first}/archive`, token);
    for (const name of ["deploy", "backup job", "terraform"])
      await admin("POST", "tokens", { name, vaults: { [production]: "r" } });
    ids = { vault: team, item: item!, deleted: deleted! };
    ({ token: empty } = await makeToken({ [await makeVault("New")]: "rwd" }, "uuid"));
    await admin("POST", "issuers", { name: "GitHub", issuer: "https://token.actions.githubusercontent.com", preset: "github" });
    await addFailingWebhook(production, token);
    narrow = {
      "token that lists": (await makeToken({ [production]: "l" }, "uuid")).token,
      "token that reads one Item": (await makeToken({ [team]: { permissions: "r", items: [item!] } }, "uuid")).token,
      "token that reads": (await makeToken({ [team]: "r", [production]: "l" }, "uuid")).token,
    };
    await mkdir(FOLDER, { recursive: true });
  });

  it.each(SCREENS)("of an empty vault, at %i pixels, %s", async (...screen) => {
    expect(await writeEmptyViews(await openAs(screen, empty), "empty vault", screen)).toContain("items");
  });

  it.each(SCREENS)("of tokens that open little, at %i pixels, %s", async (...screen) => {
    for (const [name, text] of Object.entries(narrow))
      expect(await writeEmptyViews(await openAs(screen, text), name, screen, WORK)).toContain("items");
  });

  it.each(SCREENS)("of imports that stop, at %i pixels, %s", async (...screen) => {
    const page = await openAs(screen, token);
    for (const [name, buffer] of Object.entries(STOPPED)) {
      await page.goto("about:blank");
      await page.goto("/console/#/import");
      await page.locator("input[type=file]").setInputFiles({ name: `${name}.csv`, mimeType: "text/csv", buffer });
      await page.locator("main .failure, main [role=alert], main .targets").first().waitFor();
      expect(await write(page, `stopped import ${name}`, screen)).toBeGreaterThan(1000);
    }
  });

  it.each(SCREENS)("at %i pixels, %s", async (...screen) => {
    const page = await openAs(screen, token, inject("secrets").ADMIN_TOKEN);
    acceptDialogs(page); // The browser's question about what was typed.
    const views = viewsOf(ids);
    const readyOf = new Map(views.map(([, path, ready]) => [path, ready]));
    for (const [name, path, ready] of views) {
      await page.goto(`/console/#/${path}`);
      await page.locator(ready).first().waitFor();
      expect(await write(page, name, screen)).toBeGreaterThan(1000);
    }
    for (const [name, path, open] of dialogsOf(ids)) {
      await page.goto("about:blank");
      await page.goto(`/console/#/${path}`);
      await page.locator(readyOf.get(path)!).first().waitFor();
      await open(page);
      await page.locator("dialog:modal").waitFor();
      await page.waitForTimeout(500); // What it loads.
      expect(await write(page, `dialog ${name}`, screen)).toBeGreaterThan(1000);
    }
  });
});

/** Adds a webhook whose receiver refuses the event of a write. */
async function addFailingWebhook(vault: string, token: string): Promise<void> {
  const path = `/${vault}`;
  await fetch(`${inject("receiver")}/control${path}`, { method: "PUT", body: JSON.stringify(Array(20).fill(503)) });
  await admin("POST", `vaults/${vault}/webhooks`, { url: inject("receiver") + path });
  await makeItems(token, vault, [{ title: "Written for the webhook" }]);
  const failures = async () =>
    ((await admin("GET", `vaults/${vault}/webhooks`)) as unknown as { failures: number }[])[0]!.failures;
  await vi.waitFor(async () => expect(await failures()).toBeGreaterThan(0), { timeout: 30_000 });
}
