import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { type PeopleService, startPeopleService } from "../sdk/support/people.ts";
import { checkLooks } from "./support/accessibility.ts";
import { button, heading, press, see } from "./support/console.ts";
import { openPage } from "./support/page.ts";
import { expectProblem } from "./support/problems.ts";
import { chooseAct } from "./support/rows.ts";

/** People who confirm logins in the console (contract 28), at a service with Cloudflare Access. */

let service: PeopleService;
/** The program that waits for the code, as the command line does. It keeps the addresses that it was asked for. */
let program: Server;
const asked: URL[] = [];
beforeAll(async () => {
  service = await startPeopleService();
  program = createServer(({ url }, answer) => {
    if (url!.startsWith("/?")) asked.push(new URL(url!, "http://127.0.0.1"));
    answer.setHeader("Content-Type", "text/html").end("<!doctype html><title>Done</title><p>You can close this page.</p>");
  });
  await new Promise<void>((listening) => void program.listen(0, "127.0.0.1", listening));
});
afterAll(async () => {
  program.close();
  await service.close();
});

const redirectUri = () => `http://127.0.0.1:${(program.address() as AddressInfo).port}/`;
const VERIFIER = "A".repeat(43);
const CHALLENGE = "DwBzhbb51LfusnSGBa_hqYSgo7-j8BTQnip4TOnlzRo";

/** A page of the service in which Cloudflare Access has let somebody through. Without an email: nobody. */
async function openService(email?: string): Promise<Page> {
  const origin = new URL(service.url).origin;
  const page = await openPage({ context: { baseURL: origin }, origins: [origin, new URL(redirectUri()).origin] });
  const assertion = email === undefined ? undefined : await service.assertionOf(email);
  await page.route("**/console/session", (route) =>
    route.continue({
      headers: { ...route.request().headers(), ...(assertion && { "cf-access-jwt-assertion": assertion }) },
    }),
  );
  return page;
}

const address = (more: Record<string, string> = {}) =>
  `/console/authorize?${new URLSearchParams({ redirect_uri: redirectUri(), code_challenge: CHALLENGE, state: "the state", ...more })}`;

/** Signs in with ADMIN_TOKEN where the page asks for a token. */
async function signInAsAdmin(page: Page): Promise<void> {
  await page.getByLabel("Token").fill(inject("secrets").ADMIN_TOKEN);
  await press(page, "Sign in");
}
const seeDefinitions = async (page: Page, ...texts: readonly string[]): Promise<void> => {
  for (const text of texts) await page.getByRole("definition").filter({ hasText: text }).waitFor();
};
const makeVault = async (name: string): Promise<string> => (await service.admin("POST", "vaults", { name })).id;
/** The token that the program gets for the code that it was sent last. */
const redeemSent = async (): Promise<any> => {
  const code = asked.at(-1)!.searchParams.get("code");
  return (await redeem({ code, code_verifier: VERIFIER })).json();
};

const redeem = (body: object) => fetch(new URL("v1/login/token", service.url), { method: "POST", body: JSON.stringify(body) });

it("a person confirms a login of a program on this computer, which then gets a token", async () => {
  const vault = await makeVault("Shared");
  const { email } = await service.addPerson({ [vault]: "rw" });
  const page = await openService(email);
  await page.goto(address({ expiresIn: "3600", vaults: JSON.stringify({ [vault]: "r" }) }));
  await heading(page, "Log in at the terminal").waitFor();
  await seeDefinitions(page, new URL(redirectUri()).host, email, "Shared read", "1 hour");
  expect(new URL(page.url()).search).toBe("");
  expect(await checkLooks(page)).toBe("");
  await press(page, "Confirm");
  await see(page, "You can close this page.");
  expect(asked.at(-1)!.searchParams.get("state")).toBe("the state");
  expect(await redeemSent()).toMatchObject({ name: email, vaults: { [vault]: "r" } });
});

it("a person cancels a login: the program gets no code", async () => {
  const { email } = await service.addPerson();
  const page = await openService(email);
  const before = asked.length;
  await page.goto(address());
  await press(page, "Cancel");
  await expect.poll(() => new URL(page.url()).hash).toBe("#/items");
  await page.goto("/console/#/authorize");
  await see(page, "No login to confirm.");
  expect(asked.length).toBe(before);
});

it.each([
  ["another host", { redirect_uri: "https://evil.example/" }],
  ["a name of this computer", { redirect_uri: "http://localhost:8000/" }],
  ["a script", { redirect_uri: "javascript:alert(1)" }],
  ["no challenge", { code_challenge: "" }],
  ["no state", { state: "" }],
  ["a lifetime that is none", { expiresIn: "-1" }],
  ["vaults that are none", { vaults: "[" }],
])("an address with %s asks nothing", async (_, more) => {
  const { email } = await service.addPerson();
  const page = await openService(email);
  await page.goto(address(more));
  await see(page, "No login to confirm.");
  expect(await page.getByRole("button", { name: "Confirm" }).count()).toBe(0);
});

it.each([
  ["confirms nothing", () => address(), "Confirm"],
  ["makes no code", () => "/console/#/terminal", "Create code"],
])("somebody who signs in with a token %s", async (_, place, act) => {
  const page = await openService();
  await page.goto(place());
  await signInAsAdmin(page);
  await page.getByRole("alert").filter({ hasText: "Only a person can confirm a login" }).waitFor();
  expect(await button(page, act).count()).toBe(0);
});

it("a person makes a code, sees the terminal that uses it, and ends its login", async () => {
  const [read, own] = [await makeVault("Read"), await makeVault("Own")];
  const { email } = await service.addPerson({ [read]: "rw", [own]: "rwd" });
  const page = await openService(email);
  await page.goto("/console/#/terminal");
  await page.getByLabel("Own").selectOption({ label: "read, write, delete permanently" });
  expect(await checkLooks(page)).toBe("");
  await page.getByRole("button", { name: "Create code" }).press("Enter");
  await see(page, "Paste it only into a terminal that you opened.");
  expect(await checkLooks(page)).toBe("");
  const code = await page.getByLabel("Code").inputValue();
  const used = await fetch(new URL("v1/login/token", service.url), {
    method: "POST",
    body: JSON.stringify({ code }),
    headers: { "User-Agent": "printer/1" },
  });
  const { token, vaults, createdAt, expiresAt } = (await used.json()) as Record<string, any>;
  expect([vaults, Date.parse(expiresAt) - Date.parse(createdAt)]).toEqual([{ [read]: "r", [own]: "rwd" }, 3_600_000]);
  await page
    .getByRole("status")
    .filter({ hasText: /^A terminal at .* uses it\.$/ })
    .waitFor();
  await see(page, "Program: printer/1");
  expect(await checkLooks(page)).toBe("");
  expect([page.url(), await page.content()]).toEqual([expect.not.stringContaining(code), expect.not.stringContaining(code)]);
  await press(page, "End it");
  await see(page, "The login has ended.");
  const headers = { Authorization: `Bearer ${token}` };
  expect((await fetch(new URL("v1/token", service.url), { headers })).status).toBe(401);
  await press(page, "Create another code");
  await page.getByRole("button", { name: "Create code" }).waitFor();
});

const WAITING = "Waiting for the terminal…";

/** A page with a clock of its own, an hour fast, that waits for the terminal of a code, and the code. */
async function openWaiting() {
  const page = await openService((await service.addPerson()).email);
  await page.clock.install({ time: Date.now() + 3_600_000 });
  await page.goto("/console/#/terminal");
  await press(page, "Create code");
  await see(page, WAITING);
  return { page, code: await page.getByLabel("Code").inputValue() };
}

/** Passes some seconds of the page's clock, and then waits for two more lookups of tokens. */
async function passSeconds(page: Page, seconds: number): Promise<void> {
  await page.clock.runFor(seconds * 1000);
  for (let lookups = 0; lookups < 2; lookups++) {
    const answered = page.waitForResponse("**/v1/tokens");
    await page.clock.runFor(2_000);
    await answered;
  }
}

it.each([
  ["fail", 140, { status: 503, json: { status: 503, message: "The storage is not available" } }],
  ["know nothing yet, because the redemption is in flight", 122, { json: [] }],
])("a code is not called unused while the lookups of its token %s", async (_, seconds, answer) => {
  const { page, code } = await openWaiting();
  if ("status" in answer) expectProblem(page, /503 .*\/v1\/tokens\)$/);
  expect((await redeem({ code })).status).toBe(200);
  await page.route("**/v1/tokens", (route) => route.fulfill(answer));
  await passSeconds(page, seconds);
  await see(page, WAITING);
  await page.unroute("**/v1/tokens");
  await page.clock.runFor(4_000);
  await see(page, "A terminal at");
});

it("a code that nobody uses is called expired after its 2 minutes, and a page that is left asks no more", async () => {
  const { page } = await openWaiting();
  await page.clock.runFor(140_000);
  const expired = page.getByText("The code has expired. No terminal uses it.");
  await expect.poll(() => page.clock.runFor(2_000).then(() => expired.isVisible())).toBe(true);
  await press(page, "Create another code");
  const [requested, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let lookups = 0;
  await page.route("**/v1/tokens", async (route) => {
    lookups++;
    requested.resolve();
    await answered.promise;
    await route.fulfill({ json: [] });
  });
  await press(page, "Create code");
  await see(page, WAITING);
  await page.clock.runFor(2_500);
  await requested.promise;
  await page.goto("/console/#/items");
  await page.getByText(WAITING).waitFor({ state: "detached" });
  const done = page.waitForResponse("**/v1/tokens");
  answered.resolve();
  await done;
  await page.clock.runFor(10_000);
  expect(lookups).toBe(1);
});

it("an administrator confirms a login for administration, and somebody else is refused", async () => {
  const [one, other] = [await service.addPerson({}, { admin: true }), await service.addPerson()];
  const page = await openService(one.email);
  await page.goto(address({ admin: "true" }));
  await seeDefinitions(page, "as an administrator", "1 hour");
  await press(page, "Confirm");
  await see(page, "You can close this page.");
  expect((await redeemSent()).admin).toBe(true);

  const refused = await openService(other.email);
  expectProblem(refused, /403/);
  await refused.goto(address({ admin: "true" }));
  await refused.getByRole("button", { name: "Confirm" }).click();
  await refused.getByRole("alert").filter({ hasText: "You don’t have permission to do this." }).waitFor();
});

it("the lists of the admin show administrators, and the tokens of people", async () => {
  const { email } = await service.addPerson();
  const page = await openService();
  await page.goto("/console/#/people");
  await signInAsAdmin(page);
  await chooseAct(page, email, "Change vaults…");
  await page.getByLabel("Administrator").check();
  await press(page, "Save");
  await page.getByRole("row").filter({ hasText: email }).getByText("Administrator").waitFor();

  const person = await service.signIn(email);
  const body = { redirect_uri: redirectUri(), code_challenge: CHALLENGE, admin: true };
  const { code } = (await (await person("POST", "console/authorizations", body)).json()) as { code: string };
  expect((await redeem({ code, code_verifier: VERIFIER })).status).toBe(200);
  await page.getByRole("link", { name: "Tokens" }).click();
  const row = page.getByRole("row").filter({ hasText: email });
  await row.getByText("For administration").waitFor();
  await row.getByText("Login of a person").waitFor();
});
