import { beforeAll, describe, expect, inject, it } from "vitest";
import { admin, makeVault, sendRequest } from "../sdk/support/requests.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { expectPicture, WRITES, expectScreenshot } from "./support/screenshot.ts";
import { makeItems, type NewItem } from "./support/seed.ts";
import { signIn } from "./support/session.ts";

/** The pictures of the documentation. `npm run screenshots` writes them; without it, only their sizes are checked. */

const SIZES = {
  reference: { width: 1120, height: 700 },
  "console-item": { width: 1280, height: 800 },
  "console-phone": { width: 390, height: 780 },
  "console-conflict": { width: 1280, height: 800 },
  "console-tokens": { width: 1280, height: 640 },
};

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
  ],
};

const OTHERS: readonly (readonly [title: string, category: string, username: string])[] = [
  ["AWS root account", "LOGIN", "root@example.com"],
  ["Bank", "BANK_ACCOUNT", ""],
  ["Company card", "CREDIT_CARD", ""],
  ["GitHub", "LOGIN", "ada"],
  ["Mail", "EMAIL_ACCOUNT", ""],
  ["Office Wi-Fi", "WIRELESS_ROUTER", ""],
  ["Payments API", "API_CREDENTIAL", ""],
  ["Postgres", "DATABASE", "admin"],
  ["Recovery codes", "SECURE_NOTE", ""],
  ["Status page", "LOGIN", "ops@example.com"],
  ["Web server", "SERVER", "deploy"],
];

describe.runIf(WRITES)("writing", () => {
  let token: string;
  let grafana: string;
  let path: string;

  beforeAll(async () => {
    const [team, production] = [await makeVault("Team"), await makeVault("Production")];
    token = (await admin("POST", "tokens", { name: "ada", vaults: { [team]: "rw", [production]: "rw" } })).token;
    [grafana] = (await makeItems(token, team, [GRAFANA])) as [string];
    path = `v1/vaults/${team}/items/${grafana}`;
    const others = OTHERS.map(([title, category, username]) => ({
      title,
      category,
      fields: [
        { id: "username", purpose: "USERNAME", value: username },
        { id: "password", purpose: "PASSWORD", value: "secret" },
      ],
    }));
    await makeItems(token, production, others.slice(0, 6));
    await makeItems(token, team, others.slice(6));
    await sendRequest("POST", `${path}/files?name=dashboard.json`, token, '{"panels":[]}');
    for (const [name, permission] of [
      ["deploy", "r"],
      ["backup job", "r"],
      ["terraform", "rw"],
    ] as const)
      await admin("POST", "tokens", { name, vaults: { [production]: permission } });
  });

  it("the reference page", async () => {
    const page = await openPage({ ...SIZES.reference });
    await page.goto("/docs/#createItem");
    await expectScreenshot(page, "reference");
  });

  it("the list of Items, and one Item", async () => {
    const page = await openPage({ token, ...SIZES["console-item"] });
    await page.goto(`/console/#/items/${path.split("/")[2]}/${grafana}`);
    await page.getByRole("timer").waitFor();
    await page.getByText("dashboard.json").waitFor();
    await expectScreenshot(page, "console-item");
  });

  it("the list on a phone, in the dark scheme", async () => {
    const page = await openPage({ token, ...SIZES["console-phone"], colorScheme: "dark" });
    await page.goto("/console/");
    await page.locator(".rows").getByRole("link", { name: "Grafana" }).waitFor();
    await expectScreenshot(page, "console-phone");
  });

  it("a conflict", async () => {
    const page = await openPage({ token, ...SIZES["console-conflict"] });
    expectProblem(page, /412/);
    await page.goto(`/console/#/items/${path.split("/")[2]}/${grafana}/edit`);
    await page.getByLabel("Title").fill("Grafana (production)");
    await page.getByLabel("password", { exact: true }).first().fill("a-new-password");
    await sendRequest("PATCH", path, token, [
      { op: "replace", path: "/title", value: "Grafana Cloud" },
      { op: "replace", path: "/fields/password/value", value: "changed-meanwhile" },
    ]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: /changed/ }).waitFor();
    await expectScreenshot(page, "console-conflict");
  });

  it("the tokens", async () => {
    const page = await openPage({ ...SIZES["console-tokens"] });
    await signIn(page, token, inject("secrets").ADMIN_TOKEN);
    await page.goto("/console/#/tokens");
    await page.getByRole("row", { name: /terraform/ }).waitFor();
    expect(await page.getByRole("row").count()).toBeGreaterThan(3);
    await expectScreenshot(page, "console-tokens");
  });
});

it.each(Object.entries(SIZES))("the picture %s has its size", (name, size) => expectPicture(name, size));
