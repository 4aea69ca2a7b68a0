import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { type PeopleService, startPeopleService } from "../sdk/support/people.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { runHere } from "./support/here.ts";
import { startInterceptor } from "./support/interceptor.ts";
import { startCli } from "./support/process.ts";

/** `login --browser` and `login --code` (docs/cli.md), with people of a service with Cloudflare Access. */

let service: PeopleService;
let vault: string;
beforeAll(async () => {
  service = await startPeopleService();
  vault = (await service.admin("POST", "vaults", { name: "Work" })).id;
});
afterAll(() => service.close());

interface Home {
  readonly env: Record<string, string>;
  readonly config: string;
  /** The address that the command has opened. */
  readonly opened: () => Promise<URL>;
}

/** A user without a config file, whose browser writes the address into a file. */
function home(): Home {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-login-"));
  const [config, browser, address] = ["config.json", "browser", "address"].map((name) => join(folder, name));
  const script = `#!/bin/sh\nprintf '%s' "$1" > ${address}.new && env > ${address}.env && mv ${address}.new ${address}\n`;
  writeFileSync(browser!, script, { mode: 0o700 });
  const env = { ITEM_VAULT_HOST: service.url, ITEM_VAULT_CONFIG: config!, BROWSER: browser!, ITEM_VAULT_TOKEN: "" };
  const opened = () => vi.waitFor(() => new URL(readFileSync(address!, "utf8")), UNDER_LOAD);
  return { env, config: config!, opened };
}

const stored = ({ config }: Home) => JSON.parse(readFileSync(config, "utf8"));

/** What the page of the console does when the person confirms. */
async function confirm(address: URL, email: string): Promise<URL> {
  const { redirect_uri, code_challenge, vaults, expiresIn, admin } = Object.fromEntries(address.searchParams);
  const body = {
    redirect_uri,
    code_challenge,
    ...(vaults && { vaults: JSON.parse(vaults) }),
    ...(expiresIn && { expiresIn: Number(expiresIn) }),
    ...(admin && { admin: true }),
  };
  const response = await (await service.signIn(email))("POST", "console/authorizations", body);
  expect(response.status).toBe(200);
  const target = new URL(redirect_uri!);
  target.searchParams.set("code", ((await response.json()) as { code: string }).code);
  target.searchParams.set("state", address.searchParams.get("state")!);
  return target;
}

describe("login --browser", () => {
  it("stores the token of the person who confirms in a file that only the user reads, and prints no secret", async () => {
    const { email, id } = await service.addPerson({ [vault]: "rw" });
    const own = home();
    const running = runHere(["login", "--browser"], { env: own.env });
    const address = await own.opened();
    expect(address.pathname).toBe("/console/authorize");
    const answer = await fetch(await confirm(address, email));
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("close this page")]);
    const { code, stdout, stderr } = await running;
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain(`logged in as ${email} until `);
    const { token, host } = stored(own);
    expect([host, statSync(own.config).mode & 0o777]).toEqual([service.url, 0o600]);
    expect(stderr).not.toContain(token);
    const whoami = await runHere(["whoami"], { env: own.env });
    expect(whoami.stdout).toContain("vault   Work rw");
    const child = (await service.admin("GET", "tokens")).find(({ parent }: { parent?: string }) => parent === id);
    expect(whoami.stdout).toContain(child.id);
  });

  it("asks for the vaults and the lifetime of its options", async () => {
    const { email } = await service.addPerson({ [vault]: "rw" });
    const own = home();
    const running = runHere(["login", "--browser", "--vault", `${vault}=r`, "--expires-in", "1h"], { env: own.env });
    await fetch(await confirm(await own.opened(), email));
    expect((await running).code).toBe(0);
    const { body } = await tokenOf(stored(own).token);
    expect([body.vaults, Date.parse(body.expiresAt) - Date.parse(body.createdAt)]).toEqual([{ [vault]: "r" }, 3_600_000]);
  });

  it("ends while the browser holds a connection that it has not used", async () => {
    const { email } = await service.addPerson({ [vault]: "rw" });
    const own = home();
    const { ended } = startCli(["login", "--browser"], { env: own.env });
    const target = await confirm(await own.opened(), email);
    const unused = connect(Number(target.port), target.hostname);
    await once(unused, "connect");
    onTestFinished(() => void unused.destroy());
    expect(await (await fetch(target)).text()).toContain("close this page");
    expect((await ended).code).toBe(0);
  });

  it("goes on waiting after a request without its state, and gives the browser no token", async () => {
    const { email } = await service.addPerson();
    const own = home();
    const running = runHere(["login", "--browser"], { env: { ...own.env, ITEM_VAULT_ADMIN_TOKEN: "canary-admin" } });
    const address = await own.opened();
    const target = await confirm(address, email);
    const wrong = [
      (url: URL) => url.searchParams.set("state", "x".repeat(43)),
      (url: URL) => url.searchParams.delete("state"),
      (url: URL) => url.searchParams.delete("code"),
      (url: URL) => void (url.pathname = "/other"),
    ];
    for (const change of wrong) {
      const url = new URL(target);
      change(url);
      expect((await fetch(url)).status).toBe(400);
    }
    expect((await fetch(target, { method: "POST" })).status).toBe(400);
    await fetch(target);
    expect((await running).code).toBe(0);
    expect(readFileSync(own.env["BROWSER"]!.replace(/browser$/, "address.env"), "utf8")).not.toContain("canary");
  });

  it.each(["no-such-browser", "/dev/null/browser", `./${"x".repeat(300)}`])(
    "goes on when the browser %j cannot be started, because the address is on stderr",
    async (BROWSER) => {
      const { email } = await service.addPerson();
      const running = startCli(["login", "--browser"], { env: { ...home().env, BROWSER } });
      const address = await vi.waitFor(() => new URL(/^http.*\n/m.exec(running.output.stderr)![0]), UNDER_LOAD);
      await fetch(await confirm(address, email));
      expect(await running.ended).toMatchObject({ code: 0 });
    },
  );

  it("fails when the code is not that of its verifier, and stores nothing", async () => {
    const { email } = await service.addPerson();
    const own = home();
    const running = runHere(["login", "--browser"], { env: own.env });
    const address = await own.opened();
    const foreign = new URL(address);
    foreign.searchParams.set("code_challenge", "A".repeat(43));
    await fetch(await confirm(foreign, email));
    const { code, stderr } = await running;
    expect([code, stderr]).toEqual([3, expect.stringContaining("Run the same command again")]);
    expect(stderr).not.toContain("whoami");
    expect(statSync(own.config, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("sends the code once, and says to begin again when the answer is lost", async () => {
    const own = home();
    const proxy = await startInterceptor({ before: () => proxy.requests.length > 1 });
    const running = runHere(["login", "--browser"], { env: { ...own.env, ITEM_VAULT_HOST: proxy.url } });
    const { searchParams } = await own.opened();
    const target = new URL(searchParams.get("redirect_uri")!);
    target.search = new URLSearchParams({ code: "A".repeat(43), state: searchParams.get("state")! }).toString();
    await fetch(target);
    const { code, stderr } = await running;
    expect([code, stderr]).toEqual([
      6,
      expect.stringMatching(/(?:did not answer|connection broke)[^]*Run the same command again/),
    ]);
    expect(proxy.requests).toEqual(["POST /v1/login/token"]);
  });
});

/** The text of a code that the person makes in the console. */
const codeOf = async (email: string, body: object = { vaults: {} }): Promise<string> =>
  ((await (await (await service.signIn(email))("POST", "console/login-codes", body)).json()) as { code: string }).code;

describe("login --code", () => {
  it("tells the host before it takes the code, stores the token, and prints neither", async () => {
    const { email } = await service.addPerson({ [vault]: "rw" });
    const own = home();
    const pasted = await codeOf(email, { vaults: { [vault]: "r" } });
    const { code, stdout, stderr } = await runHere(["login", "--code"], { env: own.env, input: `  ${pasted}\n` });
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain(`The code is sent to ${new URL(service.url).origin}. Get one at`);
    expect(stderr).toContain("/console/#/terminal\n");
    expect(stderr).toContain(`logged in as ${email}`);
    const { token } = stored(own);
    for (const secret of [pasted, token]) expect(stderr).not.toContain(secret);
    const { body } = await tokenOf(token);
    expect([body.vaults, Date.parse(body.expiresAt) - Date.parse(body.createdAt)]).toEqual([{ [vault]: "r" }, 3_600_000]);
  });

  it("names itself and its address to the person", async () => {
    const { email } = await service.addPerson();
    const call = await service.signIn(email);
    const { id, code } = (await (await call("POST", "console/login-codes", { vaults: {} })).json()) as Record<string, string>;
    await runHere(["login", "--code"], { env: home().env, input: code! });
    const [token] = (await (await call("GET", "v1/tokens")).json()) as { id: string; login: object }[];
    expect(token).toMatchObject({ id, login: { program: expect.stringContaining("item-vault") } });
  });

  it.each([
    [
      "that was used",
      async (email: string) => {
        const used = await codeOf(email);
        await runHere(["login", "--code"], { env: home().env, input: used });
        return used;
      },
    ],
    ["of nothing", async () => ""],
    ["that is a token", async () => inject("secrets").ADMIN_TOKEN],
  ])("with a code %s says to begin again, and stores nothing", async (_, given) => {
    const { email } = await service.addPerson();
    const own = home();
    const { code, stderr } = await runHere(["login", "--code"], { env: own.env, input: await given(email) });
    expect([code, stderr]).toEqual([3, expect.stringContaining("Run the same command again")]);
    expect(statSync(own.config, { throwIfNoEntry: false })).toBeUndefined();
  });
});

it.each([
  [["--browser", "--code"], "do not go together"],
  [["--admin", "--code"], "--admin"],
  [["--vault", "x"], "need --browser"],
  [["--code", "--expires-in", "1h"], "choose them in the console"],
  [["--code", "abc"], "expected item-vault login [options]"],
  [["--browser", "--vault", "Work"], "takes the id of a vault"],
  [["--browser", "--expires-in", "soon"], "--expires-in takes a time"],
])("login %j is refused in words", async (options, words) => {
  const { code, stderr } = await runHere(["login", ...options], { env: home().env });
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

async function tokenOf(token: string): Promise<{ body: any }> {
  const response = await fetch(new URL("v1/token", service.url), { headers: { Authorization: `Bearer ${token}` } });
  return { body: await response.json() };
}

describe("administrators", () => {
  it("log in with --browser --admin, and run the commands of the admin for an hour", async () => {
    const { email, id } = await service.addPerson({}, { admin: true });
    const own = home();
    const running = runHere(["login", "--browser", "--admin"], { env: own.env });
    const address = await own.opened();
    expect(address.searchParams.get("admin")).toBe("true");
    await fetch(await confirm(address, email));
    expect((await running).code).toBe(0);
    expect(Object.keys(stored(own)).toSorted()).toEqual(["admin_token", "host"]);
    const listed = await runHere(["person", "list"], { env: own.env });
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(email)]);
    const refused = await runHere(["person", "edit", id, "--admin", "no"], { env: own.env });
    expect(refused).toMatchObject({ code: 3 });
  });

  it("are made and unmade by person create and person edit, which keeps the vaults", async () => {
    const env = { ITEM_VAULT_HOST: service.url, ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };
    const made = await runHere(["person", "create", "root@example.com", "--vault", `${vault}=rw`, "--admin", "yes"], { env });
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining("Administrator")]);
    const { code } = await runHere(["person", "edit", "root@example.com", "--admin", "no"], { env });
    const found = (await service.admin("GET", "people")).find(({ email }: { email: string }) => email === "root@example.com");
    expect([code, found.admin, found.vaults]).toEqual([0, undefined, { [vault]: "rw" }]);
  });

  it("issue tokens that only read backups, with which a machine copies them", async () => {
    const env = { ITEM_VAULT_HOST: service.url, ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };
    expect((await runHere(["admin", "backup"], { env })).code).toBe(0);
    const { stdout } = await runHere(["token", "create", "copy", "--backups-only"], { env });
    const folder = mkdtempSync(join(tmpdir(), "item-vault-copy-"));
    const copying = { ITEM_VAULT_HOST: service.url, ITEM_VAULT_ADMIN_TOKEN: stdout.trim() };
    const copied = await runHere(["admin", "backup", "--to", folder, "--copy-only"], { env: copying });
    expect([copied.code, copied.stderr]).toEqual([0, expect.anything()]);
    expect(readdirSync(folder)).toContain("vaults");
    expect(await runHere(["admin", "backup", "--to", folder], { env: copying })).toMatchObject({ code: 3 });
    expect(await runHere(["admin", "backup", "--copy-only"], { env: copying })).toMatchObject({ code: 2 });
  });
});
