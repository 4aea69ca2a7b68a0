import { mkdir, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, inject, it } from "vitest";
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

describe.runIf(FOLDER !== "")("pictures", () => {
  let token: string;
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
    await mkdir(FOLDER, { recursive: true });
  });

  it.each(WIDTHS.flatMap((width) => (["light", "dark"] as const).map((look) => [width, look] as const)))(
    "at %i pixels, %s",
    async (width, look) => {
      const page = await openPage({ width, height: width < 720 ? 780 : 900, colorScheme: look });
      await signIn(page, token, inject("secrets").ADMIN_TOKEN);
      acceptDialogs(page); // The browser's question about what was typed.
      const views = viewsOf(ids);
      const readyOf = new Map(views.map(([, path, ready]) => [path, ready]));
      for (const [name, path, ready] of views) {
        await page.goto(`/console/#/${path}`);
        await page.locator(ready).first().waitFor();
        const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
        expect(picture.length).toBeGreaterThan(1000);
        await writeFile(`${FOLDER}/${name}-${width}-${look}.png`, picture);
      }
      for (const [name, path, open] of dialogsOf(ids)) {
        await page.goto("about:blank");
        await page.goto(`/console/#/${path}`);
        await page.locator(readyOf.get(path)!).first().waitFor();
        await open(page);
        await page.locator("dialog:modal").waitFor();
        await page.waitForTimeout(500); // What it loads.
        const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
        await writeFile(`${FOLDER}/dialog ${name}-${width}-${look}.png`, picture);
      }
    },
  );
});
