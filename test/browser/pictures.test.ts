import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import { newFolder } from "../cli/support/files.ts";
import { runCli } from "../cli/support/process.ts";
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { listed, saveTitle } from "./support/console.ts";
import { dialogsOf } from "./support/dialogs.ts";
import { openPage } from "./support/page.ts";
import { acceptDialogs, expectProblem } from "./support/problems.ts";
import { expectPicture, expectScreenshot, WRITES } from "./support/screenshot.ts";
import { makeItems, type NewItem } from "./support/seed.ts";
import { signIn } from "./support/session.ts";
import { type Addressed, viewsOf } from "./support/views.ts";

/**
 * Pictures. Those of the documentation: `npm run screenshots` writes them, and without it only their sizes are checked. And of every view
 * and dialog in both looks and at three widths, for people who look at them: `npm run pictures` writes these.
 */

/** The folder of the pictures. */
const FOLDER = process.env["PICTURES"] ?? "";
const WIDTHS = [390, 1024, 1440] as const;

/** The pictures of the documentation. */
const SIZES = {
  reference: { width: 1120, height: 700 },
  "console-item": { width: 1280, height: 800 },
  "console-phone": { width: 390, height: 780 },
  "console-dark": { width: 1280, height: 800 },
  "console-conflict": { width: 1280, height: 600 },
  "console-restore": { width: 1280, height: 660 },
  run: { width: 1280, height: 300 },
  "console-tokens": { width: 1280, height: 740 },
};

it.each(Object.entries(SIZES))("the picture %s has its size", (name, size) => expectPicture(name, size));

const TERMINAL = "body { margin: 0; background: #16181d } pre { margin: 24px; font: 18px/1.5 monospace; color: #e6e8ec }";

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
    { id: "username", purpose: "USERNAME", label: "username", value: "ada@example.com" },
    { id: "password", purpose: "PASSWORD", label: "password", value: "correct-horse-battery-staple" },
    { id: "otp", type: "OTP", label: "one-time password", value: "JBSWY3DPEHPK3PXP" },
    { id: "host", section: { id: "database" }, label: "server", value: "db.example.com:5432" },
    { id: "key", section: { id: "database" }, type: "CONCEALED", label: "password", value: "another-secret" },
    { id: "contact", section: { id: "database" }, type: "EMAIL", label: "contact", value: "dba@example.com" },
  ],
};

/** Makes two vaults with Items, a File, tokens and a token of a person. */
async function makeWorld(production: string) {
  const vaults = [await makeVault("Team"), await makeVault(production)] as const;
  const { token } = await admin("POST", "tokens", { name: "ada", vaults: { [vaults[0]]: "rwd", [vaults[1]]: "rwd" } });
  const [item = ""] = await makeItems(token, vaults[0], [GRAFANA]);
  const made = ITEMS.map(([title, category, username, tags]) => ({
    title,
    category,
    tags,
    fields: [
      { id: "username", purpose: "USERNAME", value: username },
      { id: "password", purpose: "PASSWORD", value: "secret" },
    ],
  }));
  const [first = ""] = await makeItems(token, vaults[1], made.slice(0, 6));
  await makeItems(token, vaults[0], made.slice(6));
  const path = `v1/vaults/${vaults[0]}/items/${item}`;
  await sendRequest("POST", `${path}/files?name=dashboard.json`, token, '{"panels":[]}');
  for (const name of ["deploy", "backup job", "terraform"]) await admin("POST", "tokens", { name, vaults: { [vaults[1]]: "r" } });
  return { vaults, token, item, first, path };
}

describe.runIf(WRITES)("the documentation has a picture of", () => {
  let world: Awaited<ReturnType<typeof makeWorld>>;
  const addressOf = () => `/console/#/items/${world.vaults[0]}/${world.item}`;

  beforeAll(async () => {
    world = await makeWorld("Production");
  });

  it("the reference page", async () => {
    const page = await openPage({ ...SIZES.reference });
    await page.goto("/docs/#createItem");
    await expectScreenshot(page, "reference");
  });

  it("the list of Items, and one Item", async () => {
    const page = await openPage({ token: world.token, ...SIZES["console-item"] });
    await page.goto(addressOf());
    await page.getByRole("timer").waitFor();
    await page.getByText("dashboard.json").waitFor();
    await expectScreenshot(page, "console-item");
  });

  it("the list on a phone, in the dark scheme", async () => {
    const page = await openPage({ token: world.token, ...SIZES["console-phone"], colorScheme: "dark" });
    await page.goto("/console/");
    await listed(page, "Grafana").waitFor();
    await expectScreenshot(page, "console-phone");
  });

  it("an Item in the dark scheme", async () => {
    const page = await openPage({ token: world.token, ...SIZES["console-dark"], colorScheme: "dark" });
    await page.goto(addressOf());
    await page.getByRole("timer").waitFor();
    await page.getByText("dashboard.json").waitFor();
    await expectScreenshot(page, "console-dark");
  });

  it("`run` in a terminal", async () => {
    const cwd = newFolder();
    const env = { ITEM_VAULT_TOKEN: world.token };
    await writeFile(`${cwd}/.env`, "DB_HOST=op://Team/Grafana/Database/server\nDB_PASSWORD=op://Team/Grafana/password\n");
    await writeFile(`${cwd}/server.sh`, 'echo "connecting to $DB_HOST with the password $DB_PASSWORD"\n');
    const lines = [
      ["cat .env"],
      ["cat server.sh"],
      ["item-vault run --env .env -- sh server.sh", "run", "--env", ".env", "--", "sh", "server.sh"],
    ] as const;
    let shown = "";
    for (const [line, ...args] of lines) {
      const output = args.length > 0 ? await runCli(args, { cwd, env }) : undefined;
      const text = output ? output.stdout + output.stderr : await readFile(`${cwd}/${line.slice(4)}`, "utf8");
      shown += `<b>$ ${line}</b>\n${text.replaceAll("<", "&lt;")}`;
    }
    expect(shown).toMatch(/with the password (?!correct)/);
    const page = await openPage({ ...SIZES.run, fresh: true });
    await page.setContent(`<style>${TERMINAL}</style><pre>${shown}<b>$ </b></pre>`);
    await expectScreenshot(page, "run");
  });

  it("a conflict", async () => {
    const page = await openPage({ token: world.token, ...SIZES["console-conflict"] });
    expectProblem(page, /412/);
    await page.goto(`${addressOf()}/edit`);
    await page.getByLabel("password", { exact: true }).first().fill("a-new-password");
    await sendRequest("PATCH", world.path, world.token, [
      { op: "replace", path: "/title", value: "Grafana Cloud" },
      { op: "replace", path: "/fields/password/value", value: "changed-meanwhile" },
    ]);
    await saveTitle(page, "Grafana (production)");
    await page.getByRole("heading", { name: /changed/ }).waitFor();
    await expectScreenshot(page, "console-conflict");
  });

  it("the restore of one field", async () => {
    const page = await openPage({ token: world.token, ...SIZES["console-restore"] });
    await page.goto(`${addressOf()}/history`);
    await page.getByRole("button", { name: /^Version 1\b/ }).click();
    await page.getByRole("button", { name: "Restore password" }).hover();
    await expectScreenshot(page, "console-restore");
  });

  it("the tokens", async () => {
    const page = await openPage({ ...SIZES["console-tokens"] });
    await signIn(page, world.token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/tokens");
    await page.getByRole("row", { name: /terraform.*Production/ }).waitFor(); // The names of vaults load after the tokens.
    expect(await page.getByRole("row").count()).toBeGreaterThan(3);
    await expectScreenshot(page, "console-tokens");
  });
});

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

/** Writes a picture, and expects it not to be empty. */
async function expectWritten(page: Page, name: string, [width, look]: Screen): Promise<void> {
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  await writeFile(`${FOLDER}/${name}-${width}-${look}.png`, picture);
  expect(picture.length).toBeGreaterThan(1000);
}

/** Loads a view, also one that is open. */
async function load(page: Page, path: string, ready: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`/console/#/${path}`);
  await page.locator(ready).first().waitFor();
}

/** Writes pictures of the views that need no Item, and returns the names of the views. */
async function writeEmptyViews(page: Page, state: string, screen: Screen, shown?: readonly string[]): Promise<string[]> {
  const written: string[] = [];
  for (const [name, path] of viewsOf({ vault: "", item: "", deleted: "" })) {
    if (path !== name || shown?.includes(name) === false) continue;
    await load(page, path, "main h1, main .empty");
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await page.waitForTimeout(500); // What it loads.
    await expect.poll(() => page.getByText("Loading…").count()).toBe(0);
    await expectWritten(page, `${state} ${name}`, screen);
    written.push(name);
  }
  return written;
}

describe.runIf(FOLDER !== "")("pictures", () => {
  beforeAll(() => void mkdir(FOLDER, { recursive: true }));

  // First: later tests make vaults.
  it.each(SCREENS)("of an empty service, at %i pixels, %s", async (...screen) => {
    const page = await openAs(screen, inject("secrets").ADMIN_TOKEN);
    expect(await writeEmptyViews(page, "empty service", screen)).toContain("vaults");
  });

  describe("of a service that is used", () => {
    let token: string;
    let narrow: Readonly<Record<string, string>>;
    let ids: Addressed;

    beforeAll(async () => {
      const { vaults, item, first, path, ...world } = await makeWorld("Production infrastructure, Europe and Asia");
      const [team, production] = vaults;
      ({ token } = world);
      const [deleted = ""] = await makeItems(token, team, [{ title: "Old CI server", category: "SERVER" }]);
      await sendRequest("DELETE", `v1/vaults/${team}/items/${deleted}`, token);
      await sendRequest("PATCH", path, token, [{ op: "replace", path: "/fields/password/value", value: "a-newer-password" }]);
      await sendRequest("POST", `v1/vaults/${production}/items/${first}/archive`, token);
      ids = { vault: team, item, deleted };
      await admin("POST", "issuers", { name: "GitHub", issuer: "https://token.actions.githubusercontent.com", preset: "github" });
      await addFailingWebhook(production, token);
      narrow = {
        "empty vault": await tokenFor({ [await makeVault("New")]: "rwd" }),
        "token that lists": await tokenFor({ [production]: "l" }),
        "token that reads one Item": await tokenFor({ [team]: { permissions: "r", items: [item] } }),
        "token that reads": await tokenFor({ [team]: "r", [production]: "l" }),
      };
    });

    it.each(SCREENS)("by tokens that open little, at %i pixels, %s", async (...screen) => {
      for (const [name, text] of Object.entries(narrow))
        expect(await writeEmptyViews(await openAs(screen, text), name, screen, WORK)).toContain("items");
    });

    it.each(SCREENS)("by imports that stop, at %i pixels, %s", async (...screen) => {
      const page = await openAs(screen, token);
      for (const [name, buffer] of Object.entries(STOPPED)) {
        await load(page, "import", "input[type=file]");
        await page.locator("input[type=file]").setInputFiles({ name: `${name}.csv`, mimeType: "text/csv", buffer });
        await page.locator("main .failure, main [role=alert], main .targets").first().waitFor();
        await expectWritten(page, `stopped import ${name}`, screen);
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
        await expectWritten(page, name, screen);
      }
      for (const [name, path, open] of dialogsOf(ids)) {
        await load(page, path, readyOf.get(path)!);
        await open(page);
        await page.locator("dialog:modal").waitFor();
        await page.waitForTimeout(500); // What it loads.
        await expectWritten(page, `dialog ${name}`, screen);
      }
    });
  });
});

const tokenFor = async (scope: Parameters<typeof makeToken>[0]) => (await makeToken(scope, "uuid")).token;

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
