import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { type PeopleService, startPeopleService } from "../sdk/support/people.ts";
import { checkLooks } from "./support/accessibility.ts";
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

const redeem = (body: object) => fetch(new URL("v1/login/token", service.url), { method: "POST", body: JSON.stringify(body) });

it("a person confirms a login of a program on this computer, which then gets a token", async () => {
  const vault = (await service.admin("POST", "vaults", { name: "Shared" })).id;
  const { email } = await service.addPerson({ [vault]: "rw" });
  const page = await openService(email);
  await page.goto(address({ expiresIn: "3600", vaults: JSON.stringify({ [vault]: "r" }) }));
  await page.getByRole("heading", { name: "Log in at the terminal" }).waitFor();
  for (const text of [new URL(redirectUri()).host, email, "Shared read", "1 hour"])
    await page.getByRole("definition").filter({ hasText: text }).waitFor();
  expect(new URL(page.url()).search).toBe("");
  expect(await checkLooks(page)).toBe("");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("You can close this page.").waitFor();
  const { searchParams } = asked.at(-1)!;
  expect(searchParams.get("state")).toBe("the state");
  const { name, vaults } = await (await redeem({ code: searchParams.get("code"), code_verifier: VERIFIER })).json();
  expect([name, vaults]).toEqual([email, { [vault]: "r" }]);
});

it("a person cancels a login: the program gets no code", async () => {
  const { email } = await service.addPerson();
  const page = await openService(email);
  const before = asked.length;
  await page.goto(address());
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => new URL(page.url()).hash).toBe("#/items");
  await page.goto("/console/#/authorize");
  await page.getByText("No login to confirm.").waitFor();
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
  await page.getByText("No login to confirm.").waitFor();
  expect(await page.getByRole("button", { name: "Confirm" }).count()).toBe(0);
});

it("somebody who signs in with a token confirms nothing", async () => {
  const page = await openService();
  await page.goto(address());
  await page.getByLabel("Token").fill(inject("secrets").ADMIN_TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").filter({ hasText: "Only a person can confirm a login" }).waitFor();
  expect(await page.getByRole("button", { name: "Confirm" }).count()).toBe(0);
});

it("a person makes a code, sees the terminal that uses it, and ends its login", async () => {
  const [read, own] = [
    (await service.admin("POST", "vaults", { name: "Read" })).id,
    (await service.admin("POST", "vaults", { name: "Own" })).id,
  ];
  const { email } = await service.addPerson({ [read]: "rw", [own]: "rwd" });
  const page = await openService(email);
  await page.goto("/console/#/terminal");
  await page.getByLabel("Own").selectOption({ label: "read, write, delete permanently" });
  expect(await checkLooks(page)).toBe("");
  await page.getByRole("button", { name: "Create code" }).press("Enter");
  await page.getByText("Paste it only into a terminal that you opened.").waitFor();
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
  await page.getByText("Program: printer/1").waitFor();
  expect(await checkLooks(page)).toBe("");
  expect([page.url(), await page.content()]).toEqual([expect.not.stringContaining(code), expect.not.stringContaining(code)]);
  await page.getByRole("button", { name: "End it" }).click();
  await page.getByText("The login has ended.").waitFor();
  const headers = { Authorization: `Bearer ${token}` };
  expect((await fetch(new URL("v1/token", service.url), { headers })).status).toBe(401);
  await page.getByRole("button", { name: "Create another code" }).click();
  await page.getByRole("button", { name: "Create code" }).waitFor();
});

const WAITING = "Waiting for the terminal…";

/** A page with a clock of its own, an hour fast, that waits for the terminal of a code, and the code. */
async function openWaiting() {
  const page = await openService((await service.addPerson()).email);
  await page.clock.install({ time: Date.now() + 3_600_000 });
  await page.goto("/console/#/terminal");
  await page.getByRole("button", { name: "Create code" }).click();
  await page.getByText(WAITING).waitFor();
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
  await page.getByText(WAITING).waitFor();
  await page.unroute("**/v1/tokens");
  await page.clock.runFor(4_000);
  await page.getByText("A terminal at").waitFor();
});

it("a code that nobody uses is called expired after its 2 minutes, and a page that is left asks no more", async () => {
  const { page } = await openWaiting();
  await page.clock.runFor(140_000);
  const expired = page.getByText("The code has expired. No terminal uses it.");
  await expect.poll(() => page.clock.runFor(2_000).then(() => expired.isVisible())).toBe(true);
  await page.getByRole("button", { name: "Create another code" }).click();
  const [requested, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let lookups = 0;
  await page.route("**/v1/tokens", async (route) => {
    lookups++;
    requested.resolve();
    await answered.promise;
    await route.fulfill({ json: [] });
  });
  await page.getByRole("button", { name: "Create code" }).click();
  await page.getByText(WAITING).waitFor();
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

it("somebody who signs in with a token makes no code", async () => {
  const page = await openService();
  await page.goto("/console/#/terminal");
  await page.getByLabel("Token").fill(inject("secrets").ADMIN_TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").filter({ hasText: "Only a person can confirm a login" }).waitFor();
  expect(await page.getByRole("button", { name: "Create code" }).count()).toBe(0);
});

it("an administrator confirms a login for administration, and somebody else is refused", async () => {
  const [one, other] = [await service.addPerson({}, { admin: true }), await service.addPerson()];
  const page = await openService(one.email);
  await page.goto(address({ admin: "true" }));
  for (const text of ["as an administrator", "1 hour"]) await page.getByRole("definition").filter({ hasText: text }).waitFor();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByText("You can close this page.").waitFor();
  const code = asked.at(-1)!.searchParams.get("code");
  const { admin } = await (await redeem({ code, code_verifier: VERIFIER })).json();
  expect(admin).toBe(true);

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
  await page.getByLabel("Token").fill(inject("secrets").ADMIN_TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await chooseAct(page, email, "Change vaults…");
  await page.getByLabel("Administrator").check();
  await page.getByRole("button", { name: "Save" }).click();
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
