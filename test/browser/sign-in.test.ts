import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { CLIENT, type IdentityProvider, startIdentityProvider } from "../sdk/support/identity-provider.ts";
import type { StartedWorker } from "../sdk/support/started-worker.ts";
import { startWorker } from "../sdk/support/worker.ts";
import { checkLooks } from "./support/accessibility.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";

/** People who sign in to the console at an identity provider (contract 25.12, 25.13). */

let provider: IdentityProvider;
let service: StartedWorker;
beforeAll(async () => {
  provider = await startIdentityProvider();
  const settings = { OIDC_ISSUER: provider.url, OIDC_CLIENT_ID: CLIENT.id, WEBHOOK_TEST_ORIGIN: provider.url };
  service = await startWorker({ ...inject("secrets"), OIDC_CLIENT_SECRET: CLIENT.secret }, settings);
});
afterAll(async () => {
  await service.close();
  provider.close();
});

async function admin(path: string, body: object): Promise<any> {
  const headers = { Authorization: `Bearer ${inject("secrets").ADMIN_TOKEN}` };
  const response = await fetch(new URL(`v1/admin/${path}`, service.url), { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** A person who is invited, and signs in next. */
async function invite(vaults: object = {}): Promise<string> {
  const { email } = await admin("people", { email: `${crypto.randomUUID()}@example.com`, vaults });
  provider.next = { sub: email, email, email_verified: true };
  return email;
}

const openService = (): Promise<Page> => {
  const origin = new URL(service.url).origin;
  return openPage({ context: { baseURL: origin }, origins: [origin, provider.url] });
};

const signIn = (page: Page) => page.getByRole("button", { name: "Sign in with your organization" });
const proceed = (page: Page) => page.getByRole("link", { name: "Continue" }).click();
const seesSession = (page: Page, email: string) => page.getByText(email).first().waitFor();

it("a person signs in at the provider and comes back to the place where they began; the code is in no address", async () => {
  const vault = (await admin("vaults", { name: "Shared" })).id;
  const email = await invite({ [vault]: "r" });
  const page = await openService();
  const addresses: string[] = [];
  page.on("framenavigated", (frame) => addresses.push(frame.url()));
  await page.goto("/console/#/passwords");
  await signIn(page).waitFor();
  expect(await checkLooks(page)).toBe("");
  // It has the focus, and not the field for a token.
  await page.keyboard.press("Enter");
  await proceed(page);
  await seesSession(page, email);
  await page.getByRole("heading", { name: "Password check" }).waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).search + new URL(page.url()).hash).toBe("/console/#/passwords");
  await page.goBack();
  await page.getByRole("link", { name: "Continue" }).waitFor();
});

/** The admin adds a rule for the group `platform` in the console. */
async function addRule(vault: string): Promise<void> {
  const page = await openService();
  await page.goto("/console/#/workloads");
  await page.getByLabel("Token").fill(inject("secrets").ADMIN_TOKEN);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("button", { name: "Add rule for Provider" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("For people who sign in").check();
  await dialog.getByLabel("Name", { exact: true }).first().fill("Platform team");
  const claim = dialog.getByRole("group", { name: "Claim 1" });
  await claim.getByLabel("Name").fill("groups");
  await claim.getByLabel("Value").fill("platform");
  await dialog.getByRole("checkbox", { name: `Read: ${vault}` }).check();
  expect(await checkLooks(page)).toBe("");
  await dialog.getByRole("button", { name: "Test rule" }).click();
  await dialog.getByRole("button", { name: "Add rule" }).click();
  const rule = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "Platform team" }) });
  await rule.getByText("For people").waitFor();
  await rule.getByText("groups = platform").waitFor();
}

it("somebody whom a rule of the console lets in signs in by the address of sign-ins alone, with the vaults of the rule", async () => {
  await admin("vaults", { name: "Platform" });
  await admin("issuers", { name: "Provider", issuer: provider.url });
  await addRule("Platform");
  provider.next = { sub: "grace", email: "grace@example.com", groups: ["staff", "platform"] };
  const page = await openService();
  await page.goto("/console/sign-in");
  await proceed(page);
  await seesSession(page, "grace@example.com");
  await page.getByText("Platform").first().waitFor();
  expect(new URL(page.url()).search).toBe("");
});

it("a login of a program waits while the person signs in", async () => {
  const email = await invite();
  const page = await openService();
  const challenge = "DwBzhbb51LfusnSGBa_hqYSgo7-j8BTQnip4TOnlzRo";
  const asked = { redirect_uri: "http://127.0.0.1:49152/", code_challenge: challenge, state: "the state" };
  await page.goto(`/console/authorize?${new URLSearchParams(asked)}`);
  await signIn(page).click();
  await proceed(page);
  await page.getByRole("heading", { name: "Log in at the terminal" }).waitFor();
  await page.getByRole("definition").filter({ hasText: "127.0.0.1:49152" }).waitFor();
  await page.getByRole("definition").filter({ hasText: email }).waitFor();
  expect(new URL(page.url()).search).toBe("");
});

it("somebody who is not invited, or cancels, reads why", async () => {
  provider.next = { sub: "mallory", email: "mallory@example.com" };
  const page = await openService();
  expectProblem(page, /403 .*\/console\/session\)$/);
  await page.goto("/console/sign-in");
  await proceed(page);
  await page.getByRole("alert").filter({ hasText: "Your account is not invited to this Item Vault." }).waitFor();
  provider.next = undefined;
  await signIn(page).click();
  await proceed(page);
  await page.getByRole("alert").filter({ hasText: "Your identity provider did not sign you in." }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(1);
});

it("an answer that another browser has begun signs nobody in", async () => {
  await invite();
  const [page, other] = [await openService(), await openService()];
  await page.goto("/console/sign-in");
  const address = await page.getByRole("link", { name: "Continue" }).getAttribute("href");
  await other.goto(address!);
  await other.getByRole("alert").filter({ hasText: "it began in another browser" }).waitFor();
  await proceed(page);
  await page.getByRole("navigation").first().waitFor();
  expect(await other.context().cookies()).toEqual([]);
});
