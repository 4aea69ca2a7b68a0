import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type PeopleService, startPeopleService } from "../sdk/support/people.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { modeOf, newFolder, programOf } from "./support/files.ts";
import { ADMIN, ends, prints, runHere } from "./support/here.ts";
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

const read = (path: string) => readFileSync(path, "utf8");

/** A user without a config file, whose browser writes its address and its variables into files. */
function home() {
  const folder = newFolder();
  const [config, address] = ["config.json", "address"].map((name) => join(folder, name)) as [string, string];
  const script = `printf '%s' "$1" > ${address}.new && env > ${address}.env && mv ${address}.new ${address}`;
  const BROWSER = join(programOf("browser", script), "browser");
  const env = { ITEM_VAULT_HOST: service.url, ITEM_VAULT_CONFIG: config, BROWSER, ITEM_VAULT_TOKEN: "" };
  return {
    env,
    config,
    stored: () => JSON.parse(read(config)),
    /** The address that the command has opened. */
    opened: () => vi.waitFor(() => new URL(read(address)), UNDER_LOAD),
    variables: () => read(`${address}.env`),
    login: (options: string, more: Record<string, string> = {}) => runHere(`login ${options}`, { env: { ...env, ...more } }),
    whoami: () => runHere("whoami", { env }),
  };
}

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

/** The token, and for how many milliseconds it is valid. */
async function tokenOf(token: string) {
  const response = await fetch(new URL("v1/token", service.url), { headers: { Authorization: `Bearer ${token}` } });
  const { vaults, expiresAt, createdAt } = (await response.json()) as Record<"vaults" | "expiresAt" | "createdAt", string>;
  return [vaults, Date.parse(expiresAt) - Date.parse(createdAt)];
}

describe("login --browser", () => {
  it("stores the token of the person who confirms in a file that only the user reads, and prints no secret", async () => {
    const { email, id } = await service.addPerson({ [vault]: "rw" });
    const own = home();
    const running = own.login("--browser");
    const address = await own.opened();
    expect(address.pathname).toBe("/console/authorize");
    const answer = await fetch(await confirm(address, email));
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("close this page")]);
    const ran = await running;
    expect(ran).toMatchObject({ ...ends(0, `logged in as ${email} until `), stdout: "" });
    const { token, host } = own.stored();
    expect([host, modeOf(own.config)]).toEqual([service.url, 0o600]);
    expect(ran.stderr).not.toContain(token);
    const child = (await service.admin("GET", "tokens")).find(({ parent }: { parent?: string }) => parent === id);
    expect(await own.whoami()).toMatchObject(prints(0, "vault   Work rw", child.id));
  });

  it("asks for the vaults and the lifetime of its options", async () => {
    const { email } = await service.addPerson({ [vault]: "rw" });
    const own = home();
    const running = own.login(`--browser --vault ${vault}=r --expires-in 1h`);
    await fetch(await confirm(await own.opened(), email));
    expect((await running).code).toBe(0);
    expect(await tokenOf(own.stored().token)).toEqual([{ [vault]: "r" }, 3_600_000]);
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
    const running = own.login("--browser", { ITEM_VAULT_ADMIN_TOKEN: "canary-admin" });
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
    expect(own.variables()).not.toContain("canary");
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
    const running = own.login("--browser");
    const address = await own.opened();
    const foreign = new URL(address);
    foreign.searchParams.set("code_challenge", "A".repeat(43));
    await fetch(await confirm(foreign, email));
    const ran = await running;
    expect(ran).toMatchObject(ends(3, "Run the same command again"));
    expect(ran.stderr).not.toContain("whoami");
    expect(existsSync(own.config)).toBe(false);
  });

  it("sends the code once, and says to begin again when the answer is lost", async () => {
    const own = home();
    const proxy = await startInterceptor({ before: () => proxy.requests.length > 1 });
    const running = own.login("--browser", { ITEM_VAULT_HOST: proxy.url });
    const { searchParams } = await own.opened();
    const target = new URL(searchParams.get("redirect_uri")!);
    target.search = new URLSearchParams({ code: "A".repeat(43), state: searchParams.get("state")! }).toString();
    await fetch(target);
    expect(await running).toMatchObject(ends(6, /(?:did not answer|connection broke)[^]*Run the same command again/));
    expect(proxy.requests).toEqual(["POST /v1/login/token"]);
  });
});

/** The text of a code that the person makes in the console. */
const codeOf = async (email: string, body: object = { vaults: {} }): Promise<string> =>
  ((await (await (await service.signIn(email))("POST", "console/login-codes", body)).json()) as { code: string }).code;

const loginByCode = ({ env }: ReturnType<typeof home>, input: string) => runHere("login --code", { env, input });

describe("login --code", () => {
  it("tells the host before it takes the code, stores the token, and prints neither", async () => {
    const { email } = await service.addPerson({ [vault]: "rw" });
    const own = home();
    const pasted = await codeOf(email, { vaults: { [vault]: "r" } });
    const ran = await loginByCode(own, `  ${pasted}\n`);
    const told = `The code is sent to ${new URL(service.url).origin}. Get one at`;
    expect(ran).toMatchObject({ ...ends(0, told, "/console/#/terminal\n", `logged in as ${email}`), stdout: "" });
    const { token } = own.stored();
    for (const secret of [pasted, token]) expect(ran.stderr).not.toContain(secret);
    expect(await tokenOf(token)).toEqual([{ [vault]: "r" }, 3_600_000]);
  });

  it("names itself and its address to the person", async () => {
    const { email } = await service.addPerson();
    const call = await service.signIn(email);
    const { id, code } = (await (await call("POST", "console/login-codes", { vaults: {} })).json()) as Record<string, string>;
    await loginByCode(home(), code!);
    const [token] = (await (await call("GET", "v1/tokens")).json()) as { id: string; login: object }[];
    expect(token).toMatchObject({ id, login: { program: expect.stringContaining("item-vault") } });
  });

  it.each([
    ["that was used", (email: string) => codeOf(email)],
    ["of nothing", async () => ""],
    ["that is a token", async () => ADMIN.ITEM_VAULT_ADMIN_TOKEN],
  ])("with a code %s says to begin again, and stores nothing", async (which, given) => {
    const { email } = await service.addPerson();
    const own = home();
    const code = await given(email);
    if (which === "that was used") await loginByCode(home(), code);
    expect(await loginByCode(own, code)).toMatchObject(ends(3, "Run the same command again"));
    expect(existsSync(own.config)).toBe(false);
  });
});

it.each([
  ["--browser --code", "do not go together"],
  ["--admin --code", "--admin"],
  ["--vault x", "need --browser"],
  ["--code --expires-in 1h", "choose them in the console"],
  ["--code abc", "expected item-vault login [options]"],
  ["--browser --vault Work", "takes the id of a vault"],
  ["--browser --expires-in soon", "--expires-in takes a time"],
])("login %s is refused in words", async (options, words) => {
  expect(await home().login(options)).toMatchObject(ends(2, words));
});

const admin = () => ({ ITEM_VAULT_HOST: service.url, ...ADMIN });

describe("administrators", () => {
  it("log in with --browser --admin, and run the commands of the admin for an hour", async () => {
    const { email, id } = await service.addPerson({}, { admin: true });
    const own = home();
    const running = own.login("--browser --admin");
    const address = await own.opened();
    expect(address.searchParams.get("admin")).toBe("true");
    await fetch(await confirm(address, email));
    expect((await running).code).toBe(0);
    expect(Object.keys(own.stored()).toSorted()).toEqual(["admin_token", "host"]);
    expect(await runHere("person list", { env: own.env })).toMatchObject(prints(0, email));
    expect(await runHere(`person edit ${id} --admin no`, { env: own.env })).toMatchObject({ code: 3 });
  });

  it("are made and unmade by person create and person edit, which keeps the vaults", async () => {
    const line = `person create root@example.com --vault ${vault}=rw --admin yes`;
    expect(await runHere(line, { env: admin() })).toMatchObject(prints(0, "Administrator"));
    expect(await runHere("person edit root@example.com --admin no", { env: admin() })).toMatchObject({ code: 0 });
    const found = (await service.admin("GET", "people")).find(({ email }: { email: string }) => email === "root@example.com");
    expect([found.admin, found.vaults]).toEqual([undefined, { [vault]: "rw" }]);
  });

  it("issue tokens that only read backups, with which a machine copies them", async () => {
    expect((await runHere("admin backup", { env: admin() })).code).toBe(0);
    const { stdout } = await runHere("token create copy --backups-only", { env: admin() });
    const folder = newFolder();
    const copy = (options: string) =>
      runHere(`admin backup ${options}`, { env: { ITEM_VAULT_HOST: service.url, ITEM_VAULT_ADMIN_TOKEN: stdout.trim() } });
    expect(await copy(`--to ${folder} --copy-only`)).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toContain("vaults");
    expect(await copy(`--to ${folder}`)).toMatchObject({ code: 3 });
    expect(await copy("--copy-only")).toMatchObject({ code: 2 });
  });
});
