import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { parse, stringify } from "yaml";
import type { StartedWorker } from "../../sdk/support/started-worker.ts";
import { sendRequest } from "../../sdk/support/vault.ts";
import { startWorker } from "../../sdk/support/worker.ts";
import { until } from "../../support/waits.ts";
import { modeOf, newFolder } from "../support/files.ts";
import { ADMIN, ends, prints, runHere } from "../support/here.ts";
import { hurryTime } from "../support/hurry.ts";
import { type InterceptorOptions, startInterceptor } from "../support/interceptor.ts";
import { startCli } from "../support/process.ts";

/** `apply` (docs/cli.md), of a service of its own: other tests look at all people and rules. Each test has names of its own. */

let service: StartedWorker;
/** The variables of the administrator. The time limit is not what is tested, and `hurryTime` makes it short. */
let env: Readonly<Record<"ITEM_VAULT_ADMIN_TOKEN" | "ITEM_VAULT_HOST" | "ITEM_VAULT_TIMEOUT", string>>;

beforeAll(async () => {
  service = await startWorker(inject("secrets"));
  env = { ...ADMIN, ITEM_VAULT_HOST: service.url, ITEM_VAULT_TIMEOUT: "3600" };
});

afterAll(() => service.close());

const admin = (method: string, path: string, body?: object): Promise<any> =>
  sendRequest(method, `${service.url}v1/admin/${path}`, inject("secrets").ADMIN_TOKEN, body);

const startProxy = (options: InterceptorOptions = {}) => startInterceptor({ service: service.url, ...options });

type Row = Readonly<Record<string, any>>;

const list = (path: string): Promise<readonly Row[]> => admin("GET", path);

/** Returns the live things with a name. */
const listNamed = async (kind: string, name: string, attribute = "name") =>
  (await list(kind)).filter((row) => row[attribute] === name && row["endedAt"] === undefined);

let count = 0;

/** A file with one thing of each kind, in a folder of its own, and the names of its things. */
function newWorld() {
  const mark = `apply ${process.pid}-${count++}`;
  const [host, folder] = [`${mark.replace(" ", "-")}.example.com`, newFolder()];
  const [path, out] = [join(folder, "item-vault.yaml"), join(folder, "secrets")];
  const names = {
    vault: `${mark} vault`,
    issuer: `${mark} issuer`,
    rule: `${mark} rule`,
    token: `${mark} token`,
    person: `ada@${host}`,
    webhook: "https://hooks.example.com/item-vault",
  };
  const file = {
    version: 1,
    name: mark,
    vaults: { [names.vault]: { description: "Of a file", webhooks: { [names.webhook]: {} } } },
    issuers: { [names.issuer]: { issuer: `https://${host}` } },
    rules: { [names.rule]: { issuer: names.issuer, claims: { job: "deploy" }, vaults: { [names.vault]: "r" } } },
    tokens: { [names.token]: { vaults: { [names.vault]: "r" }, stale: "60s", expiresIn: "1d" } },
    people: { [names.person]: { vaults: { [names.vault]: "rw" } } },
  };
  const run = (content: object | string, args = "", more: Readonly<Record<string, string>> = {}) => {
    writeFileSync(path, typeof content === "string" ? content : stringify(content));
    return runHere(`apply ${path} ${args}`, { env: { ...env, ...more } });
  };
  /** The same with a folder for secrets. */
  const apply = (content: object | string = file, args = "", more: Readonly<Record<string, string>> = {}) =>
    run(content, `--out ${out} ${args}`, more);
  /** The live things of the file, by kind. */
  const state = async () => {
    const vaults = await listNamed("vaults", names.vault);
    const webhooks = await Promise.all(vaults.map(({ id }) => list(`vaults/${id}/webhooks`)));
    return {
      vaults,
      issuers: await listNamed("issuers", names.issuer),
      rules: await listNamed("rules", names.rule),
      tokens: await listNamed("tokens", names.token),
      people: await listNamed("people", names.person, "email"),
      webhooks: webhooks.flat(),
    };
  };
  const secrets = () => readdirSync(out).map((name) => ({ name, text: readFileSync(join(out, name), "utf8").trim() }));
  return { mark, path, out, names, file, run, apply, state, secrets };
}

type World = ReturnType<typeof newWorld>;

const empty = ({ mark }: World) => ({ version: 1, name: mark });

const widened = ({ file, names }: World) => ({ ...file, tokens: { [names.token]: { vaults: { [names.vault]: "rw" } } } });

const idOf = (token: string): Promise<Row> => sendRequest("GET", `${service.url}v1/token`, token) as Promise<Row>;

/** Fails unless the service has each thing of the file once, and the folder the text of the token and the secret of the webhook. */
async function expectApplied({ state, secrets, mark }: World): Promise<void> {
  const found = await state();
  expect(Object.entries(found).map(([kind, rows]) => [kind, rows.length])).toEqual(Object.keys(found).map((kind) => [kind, 1]));
  const { vaults: _, ...managed } = found;
  expect(Object.values(managed).map(([row]) => row!["managedBy"])).toEqual(Object.keys(managed).map(() => mark));
  const files = secrets();
  expect(new Set(files.map(({ name }) => name.split("-")[0]))).toEqual(new Set(["token", "webhook"]));
  expect(files).toHaveLength(2);
  const token = files.find(({ name }) => name.startsWith("token-"))!;
  expect((await idOf(token.text))["id"]).toBe(found.tokens[0]!["id"]);
  expect(files.find(({ name }) => name.startsWith("webhook-"))!.text).toMatch(/^whsec_/);
}

/** The file with another value for each thing that can be changed. */
function changed({ file, names: { vault, rule, issuer, token, person, webhook } }: World) {
  return {
    ...file,
    vaults: { [vault]: { quota: { items: 7 }, webhooks: { [`${webhook}-2`]: { was: webhook, enabled: false } } } },
    rules: { [rule]: { issuer, claims: { job: "build" }, lifetime: "5m" } },
    tokens: { [token]: { vaults: { [vault]: "rw" } } },
    people: { [person]: { vaults: { [vault]: "r" } } },
  };
}

const CHANGING = "--rotate --overlap 0 --yes";

/** Fails unless the service is as `changed` describes it, and the folder has the text of the one token. */
async function expectChanged(world: World, before: Awaited<ReturnType<World["state"]>>): Promise<void> {
  const { vaults, rules, tokens, people, webhooks } = await world.state();
  const id = before.vaults[0]!["id"];
  expect(vaults).toMatchObject([{ description: "", quota: { items: 7 }, id }]);
  expect(rules).toMatchObject([{ claims: { job: "build" }, lifetime: 300, vaults: {} }]);
  expect(tokens).toMatchObject([{ vaults: { [id]: "rw" } }]);
  expect(people).toMatchObject([{ id: before.people[0]!["id"], vaults: { [id]: "r" } }]);
  expect(webhooks).toMatchObject([{ id: before.webhooks[0]!["id"], url: `${world.names.webhook}-2`, enabled: false }]);
  const text = world.secrets().find(({ name }) => name.endsWith(tokens[0]!["id"]))!;
  expect((await idOf(text.text))["id"]).toBe(tokens[0]!["id"]);
  expect(await world.run(changed(world))).toMatchObject(DONE);
}

/** There is nothing to do. */
const DONE = { code: 0, stdout: "Nothing to do\n" };

const WRITES = /^(?:POST|PATCH|DELETE) /;

describe("apply", () => {
  it("makes what the file has, and says so in a plan", async () => {
    const world = newWorld();
    const words = ["6 steps, 0 differences left", `+ vault ${world.names.vault}: new and empty`];
    expect(await world.apply()).toMatchObject(prints(0, ...words));
    await expectApplied(world);
  });

  it("does nothing when it is repeated", async () => {
    const world = newWorld();
    await world.apply();
    const { url, requests } = await startProxy();
    expect(await world.run(world.file, "", { ITEM_VAULT_HOST: url })).toMatchObject(DONE);
    expect(requests.filter((name) => WRITES.test(name))).toEqual([]);
  });

  it("writes each secret to a file of mode 0600, in a folder of mode 0700, and nowhere else", async () => {
    const world = newWorld();
    const { stdout, stderr } = await world.apply();
    const texts = world.secrets();
    const modes = [world.out, ...texts.map(({ name }) => join(world.out, name))].map(modeOf);
    expect(modes).toEqual([0o700, 0o600, 0o600]);
    expect(texts.filter(({ text }) => `${stdout}${stderr}`.includes(text))).toEqual([]);
  });

  it("makes nothing without --out if the plan makes a secret", async () => {
    const world = newWorld();
    expect(await world.run(world.file)).toMatchObject(ends(2, "--out"));
    expect((await world.state()).vaults).toEqual([]);
  });

  it("changes vaults, people and webhooks, replaces rules, and rotates tokens", async () => {
    const world = newWorld();
    await world.apply();
    const before = await world.state();
    expect(await world.run(changed(world))).toMatchObject(ends(2, "--yes"));
    expect((await world.apply(changed(world), CHANGING)).code).toBe(0);
    await expectChanged(world, before);
  });
});

/**
 * Lets the writes before one through, and then nothing more until `revive`. `isDone`: the service does that write, and its answer is lost.
 * `atDeath` runs then.
 */
async function startMortal(write: (name: string, seen: number) => boolean, isDone: boolean, atDeath = (): void => undefined) {
  let seen = 0;
  let [isDead, isRevived] = [false, false];
  const isIts = (name: string): boolean => !isRevived && WRITES.test(name) && write(name, seen);
  const { url } = await startProxy({
    // A 400 is not sent again.
    refuse(name) {
      if (WRITES.test(name)) seen++;
      isDead ||= !isDone && isIts(name);
      return isDead && !isRevived ? 400 : undefined;
    },
    cutAfter(name) {
      if (!isIts(name)) return undefined;
      isDead = true;
      atDeath();
      return 0;
    },
  });
  return { host: { ITEM_VAULT_HOST: url }, revive: () => void (isRevived = true) };
}

/** Each of so many writes, before and after the service has done it. */
const deathsAt = (writes: number) =>
  Array.from({ length: writes }, (_, at) => [[at + 1, "before", false] as const, [at + 1, "after", true] as const]).flat();

const isToken = (name: string): boolean => name === "POST /v1/admin/tokens";

describe("apply that is killed", () => {
  it.each(deathsAt(6))(
    "at write %i, %s the service has done it, ends in the same state when it is repeated",
    async (write, _, isDone) => {
      hurryTime();
      const world = newWorld();
      const { host, revive } = await startMortal((_name, seen) => seen === write, isDone);
      const run = () => world.apply(world.file, "", host);
      expect((await run()).code).not.toBe(0);
      revive();
      expect((await run()).code).toBe(0);
      await expectApplied(world);
      expect(await run()).toMatchObject(DONE);
    },
  );

  it.each(deathsAt(7))(
    "at write %i of a change, %s the service has done it, ends in the same state when it is repeated",
    async (write, _, isDone) => {
      hurryTime();
      const world = newWorld();
      await world.apply();
      const before = await world.state();
      const { host, revive } = await startMortal((_name, seen) => seen === write, isDone);
      const run = () => world.apply(changed(world), CHANGING, host);
      // The last write deletes. Its answer has no body that could be cut, so nothing is left to do.
      expect((await run()).code === 0).toBe(isDone && write === 7);
      revive();
      expect((await run()).code).toBe(0);
      await expectChanged(world, before);
    },
  );

  it("by a signal after the service has made the token, has its text when it is repeated", async () => {
    const world = newWorld();
    const running: { child?: ReturnType<typeof startCli>["child"] } = {};
    const { host, revive } = await startMortal(isToken, true, () => void running.child!.kill("SIGKILL"));
    writeFileSync(world.path, stringify(world.file));
    const { child, ended } = startCli(["apply", world.path, "--out", world.out], { env: { ...env, ...host } });
    running.child = child;
    expect((await ended).signal).toBe("SIGKILL");
    expect((await world.state()).tokens).toHaveLength(1);
    revive();
    expect(await world.apply(world.file, "", host)).toMatchObject(ends(0, "Finished 1 request"));
    await expectApplied(world);
  });

  it("makes the token anew when it is repeated after the token has ended", async () => {
    hurryTime();
    const world = newWorld();
    const { host, revive } = await startMortal(isToken, true);
    await world.apply(world.file, "", host);
    const [token] = (await world.state()).tokens;
    await admin("DELETE", `tokens/${token!["id"]}`);
    revive();
    expect((await world.apply(world.file, "", host)).code).toBe(0);
    await expectApplied(world);
  });

  it("and repeated by another administrator makes a second token, and the next ones end the first", async () => {
    hurryTime();
    const world = newWorld();
    const { host, revive } = await startMortal(isToken, true);
    await world.apply(world.file, "", host);
    const [lost] = (await world.state()).tokens;
    // The service knows a request again by its key and its sender, so another key is another sender.
    const [pending] = world.secrets();
    writeFileSync(join(world.out, pending!.name), JSON.stringify({ ...JSON.parse(pending!.text), key: crypto.randomUUID() }));
    revive();
    // The service knows the age of a token in seconds.
    await until(() => Date.now() - Date.parse(lost!["createdAt"]) > 1000);
    expect((await world.apply(world.file, "--overlap 0 --yes", host)).code).toBe(0);
    await expectApplied(world);
    expect((await world.state()).tokens[0]!["id"]).not.toBe(lost!["id"]);
  });
});

describe("apply --plan", () => {
  it("changes nothing, and ends with code 8 while the service differs from the file", async () => {
    const world = newWorld();
    const { url, requests } = await startProxy();
    const planned = () => world.run(world.file, "--plan", { ITEM_VAULT_HOST: url });
    expect(await planned()).toMatchObject(prints(8, "6 steps"));
    await world.apply();
    expect(await planned()).toMatchObject(DONE);
    await admin("PATCH", `vaults/${(await world.state()).vaults[0]!["id"]}`, { description: "By hand" });
    expect(await planned()).toMatchObject(prints(8, `~ vault ${world.names.vault}: description`));
    expect(requests.filter((name) => WRITES.test(name))).toEqual([]);
  });

  it("does not call the end of a token drift", async () => {
    const world = newWorld();
    await world.apply();
    const { token } = world.names;
    const tokens = { [token]: { ...world.file.tokens[token], expiresIn: "2d" } };
    expect(await world.run({ ...world.file, tokens }, "--plan")).toMatchObject(DONE);
  });

  it("takes a token that only reads lists, with which nothing can be applied", async () => {
    const world = newWorld();
    const issued = await runHere("token create plan --admin-read", { env });
    const reader = { ITEM_VAULT_ADMIN_TOKEN: issued.stdout.trim() };
    expect(await world.run(world.file, "--plan", reader)).toMatchObject({ code: 8, stderr: "" });
    expect((await world.apply(world.file, "", reader)).code).toBe(3);
    expect((await world.state()).vaults).toEqual([]);
  });

  it("names the narrower token when a token runs it that may write", async () => {
    const world = newWorld();
    expect((await world.run(world.file, "--plan")).stderr).toContain("--admin-read");
  });
});

describe("a token that the file changes", () => {
  it("stays as it is without --rotate, which is drift", async () => {
    const world = newWorld();
    await world.apply();
    const before = (await world.state()).tokens;
    expect(await world.apply(widened(world))).toMatchObject(prints(8, "--rotate"));
    expect((await world.state()).tokens).toEqual(before);
  });

  it("is issued anew with --rotate, and the old one works until the overlap is over", async () => {
    const world = newWorld();
    await world.apply();
    const old = world.secrets().find(({ name }) => name.startsWith("token-"));
    const rotated = await world.apply(widened(world), "--rotate");
    expect(rotated).toMatchObject(prints(0, "the first apply after "));
    const texts = world.secrets().flatMap(({ name, text }) => (name.startsWith("token-") ? [text] : []));
    expect((await Promise.all(texts.map(idOf))).length).toBe(2);
    expect((await world.apply(widened(world), "--plan")).code).toBe(0);
    const ended = await world.apply(widened(world), "--overlap 0 --yes");
    expect(ended).toMatchObject(prints(0, "- token"));
    await expect(idOf(old!.text)).rejects.toThrow("401");
    expect((await world.state()).tokens).toHaveLength(1);
  });

  it("is replaced at once with --overlap 0, also one that no file has made", async () => {
    const world = newWorld();
    const made = await admin("POST", "tokens", { name: world.names.token, vaults: {} });
    expect((await world.apply(world.file, "--rotate --overlap 0 --yes")).code).toBe(0);
    await expect(idOf(made.token)).rejects.toThrow("401");
    await expectApplied(world);
  });
});

describe("a name", () => {
  it("that two live things have is refused, and nothing is changed", async () => {
    const world = newWorld();
    for (let index = 0; index < 2; index++) await admin("POST", "tokens", { name: world.names.token, vaults: {} });
    expect(await world.apply()).toMatchObject(ends(5, `token ${world.names.token}: 2 have this name`));
    expect((await world.state()).vaults).toEqual([]);
  });

  it("before it, in `was`, renames a vault with its items", async () => {
    const world = newWorld();
    await world.apply();
    const [before] = (await world.state()).vaults;
    const { [world.names.vault]: vault } = world.file.vaults;
    const rename = (name: string) => (text: string) => text.replaceAll(world.names.vault, name);
    const renamed = parse(rename(`${world.names.vault} 2`)(stringify(world.file))) as World["file"];
    const file = { ...renamed, vaults: { [`${world.names.vault} 2`]: { ...vault, was: world.names.vault } } };
    expect(await world.run(file)).toMatchObject(prints(0, /~ vault .*: was .*\n1 step,/));
    const after = (await list("vaults")).filter(({ id }) => id === before!["id"]);
    expect(after).toMatchObject([{ name: `${world.names.vault} 2` }]);
    expect(await world.run(file)).toMatchObject(DONE);
    await admin("POST", "vaults", { name: world.names.vault });
    expect(await world.run(file)).toMatchObject(ends(5, "remove `was`"));
  });

  it("that a scope or a rule has, and nothing else, is refused", async () => {
    const world = newWorld();
    const { vaults: _, issuers: __, ...rest } = world.file;
    const ran = await world.apply(rest);
    expect(ran).toMatchObject(ends(5, `no issuer ${world.names.issuer}`));
    expect(ran.stderr).toContain(`token ${world.names.token}: no vault ${world.names.vault}`);
  });

  it("of an issuer whose URL the file changes stays, because an issuer cannot be changed", async () => {
    const world = newWorld();
    await world.apply();
    const issuers = { [world.names.issuer]: { issuer: "https://other.example.com" } };
    expect(await world.apply({ ...world.file, issuers })).toMatchObject(prints(8, "an issuer cannot be changed"));
  });
});

describe("apply --prune", () => {
  it("deletes what the set has made, but no vault", async () => {
    const world = newWorld();
    await world.apply();
    const { vaults, webhooks: _, ...others } = await world.state();
    expect(await world.run(empty(world))).toMatchObject(prints(8, "--prune deletes it"));
    const { [world.names.vault]: vault } = world.file.vaults;
    const left = { ...empty(world), vaults: { [world.names.vault]: { ...vault, webhooks: {} } } };
    expect(await world.run(left, "--prune")).toMatchObject(prints(2, "- token "));
    expect(await world.state()).toMatchObject(others);
    expect((await world.run(left, "--prune --yes")).code).toBe(0);
    const after = await world.state();
    const [{ webhooks: _count, ...vaultLeft } = {} as Row] = vaults;
    expect(after).toEqual({ vaults: [vaultLeft], issuers: [], rules: [], tokens: [], people: [], webhooks: [] });
    expect(await world.run(empty(world), "--prune")).toMatchObject(DONE);
  });

  it("leaves what somebody else has made", async () => {
    const world = newWorld();
    await admin("POST", "tokens", { name: world.names.token, vaults: {} });
    await admin("POST", "tokens", { name: `${world.names.token} 2`, vaults: {}, managedBy: `${world.mark} 2` });
    expect(await world.run(empty(world), "--prune")).toMatchObject(DONE);
  });

  it("leaves an issuer that a rule of somebody else needs", async () => {
    const world = newWorld();
    await world.apply();
    const [issuer] = (await world.state()).issuers;
    await admin("POST", "rules", { name: "other", issuer: issuer!["id"], claims: { job: "x" }, vaults: {} });
    expect(await world.run(empty(world), "--prune --yes")).toMatchObject(prints(8, "rule other needs it"));
    expect((await world.state()).issuers).toEqual([issuer]);
  });

  it("leaves the token that runs the command", async () => {
    const world = newWorld();
    const body = { name: "runs", adminRead: true, managedBy: world.mark };
    const { token } = await admin("POST", "tokens", body);
    expect(await world.run(empty(world), "--prune --plan", { ITEM_VAULT_ADMIN_TOKEN: token })).toMatchObject(
      prints(8, "token runs: not in the file, but it runs this command"),
    );
  });

  it.each([
    ["removed", (_world: World) => ({})],
    ["demoted", ({ names }: World) => ({ people: { [names.person]: {} } })],
  ])("is refused where the last administrator would be %s", async (_, partOf) => {
    const world = newWorld();
    const people = { [world.names.person]: { admin: true } };
    await world.apply({ ...empty(world), people });
    const own = (await world.state()).people;
    const file = { ...empty(world), ...partOf(world) };
    expect(await world.run(file, "--prune --yes")).toMatchObject(ends(5, "Nobody would be an administrator any more"));
    expect((await world.state()).people).toEqual(own);
    await admin("DELETE", `people/${own[0]!["id"]}`);
  });
});

describe("apply --export", () => {
  it("writes a file with which nothing changes, without secrets", async () => {
    const world = newWorld();
    await world.apply();
    const exported = await runHere("apply --export", { env });
    expect(exported.code).toBe(0);
    for (const { text } of world.secrets()) expect(exported.stdout).not.toContain(text);
    const file = parse(exported.stdout) as World["file"];
    expect(file.tokens[world.names.token]).toEqual(world.file.tokens[world.names.token]);
    expect(file.vaults[world.names.vault]).toEqual(world.file.vaults[world.names.vault]);
    expect(await world.run(file, "--plan")).toMatchObject(DONE);
  });

  it("leaves out what shares its name with something else, and names it", async () => {
    const world = newWorld();
    for (let index = 0; index < 2; index++) await admin("POST", "tokens", { name: world.names.token, vaults: {} });
    const { stdout, stderr } = await runHere("apply --export", { env });
    expect(stderr).toContain(`Left out: 2 of tokens are named ${world.names.token}`);
    expect(stdout).not.toContain(world.names.token);
  });
});

describe("a file", () => {
  const SECRET = "hunter2-the-secret";
  const base = "version: 1\nname: bad\n";

  it.each([
    ["an unknown key", `${base}tokens: {ci: {scopes: ${SECRET}}}`, "tokens.ci.scopes: is unknown"],
    ["an unknown section", `${base}items: {a: ${SECRET}}`, "items: is unknown"],
    ["a secret", `${base}tokens: {ci: {token: ${SECRET}}}`, "tokens.ci.token: looks like a secret"],
    [
      "the secret of a webhook",
      `${base}vaults: {A: {webhooks: {"https://a.example.com": {secret: ${SECRET}}}}}`,
      "secret: looks like a secret",
    ],
    [
      "a private key",
      `${base}issuers: {A: {issuer: x, jwks: {keys: [{kty: RSA, d: ${SECRET}}]}}}`,
      "is not a JWK set of public keys",
    ],
    ["a value of another type", `${base}tokens: {ci: {delegate: ${SECRET}}}`, "tokens.ci.delegate: is not true or false"],
    ["a permission that is none", `${base}tokens: {ci: {vaults: {A: ${SECRET}}}}`, "tokens.ci.vaults: is not a map of vaults"],
    ["a time without a unit", `${base}tokens: {ci: {expiresIn: 90}}`, "tokens.ci.expiresIn: is not a time"],
    ["a section that is no map", `${base}tokens: ${SECRET}`, "tokens: is not a map"],
    ["a thing that is no map", `${base}tokens: {ci: ${SECRET}}`, "tokens.ci: is not a map"],
    ["a rule without an issuer", `${base}rules: {a: {claims: {b: c}}}`, "rules.a.issuer: is missing"],
    ["a webhook that is no URL", `${base}vaults: {A: {webhooks: {x: {}}}}`, "vaults.A.webhooks.x: is not a name"],
    ["a name before it that is in the file", `${base}vaults: {A: {}, B: {was: A}}`, "vaults.B.was: is a name of the file"],
    ["one name before two", `${base}vaults: {A: {was: X}, B: {was: X}}`, "was: is a name of the file"],
    ["a person in two spellings", `${base}people: {a@example.com: {}, A@example.com: {}}`, "has one name in two spellings"],
    ["another version", "version: 2\nname: bad", "version: is not 1"],
    ["no name", "version: 1", "name: is missing"],
    ["a key twice", `${base}tokens: {ci: {}, ci: {a: ${SECRET}}}`, "line 3 is not YAML (DUPLICATE_KEY)"],
    ["a text that is no YAML", `${base}tokens: [${SECRET}`, "is not YAML"],
    ["an alias", `${base}tokens: {a: &a {}, b: *a}`, "has an alias"],
    ["nothing", "", "the file.version: is missing"],
  ])("with %s is refused, and its values are not repeated", async (_, text, message) => {
    const { code, stdout, stderr } = await newWorld().apply(text);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message.replace("the file.", ""))]);
    expect(`${stdout}${stderr}`).not.toContain(SECRET);
  });

  it("of the documentation is one that can be applied", async () => {
    const { url } = await startProxy({ answer: () => [] });
    const ran = await newWorld().run(readFileSync("docs/examples/item-vault.yaml", "utf8"), "--plan", { ITEM_VAULT_HOST: url });
    expect(ran).toMatchObject(prints(8, "0 differences left"));
  });

  it("may be JSON", async () => {
    const world = newWorld();
    expect((await world.run(JSON.stringify(world.file), "--plan")).stdout).toContain("6 steps");
  });

  it("is needed, and must exist", async () => {
    expect(await runHere("apply", { env })).toMatchObject(ends(2, "needs a file"));
    expect((await runHere("apply /nowhere.yaml", { env })).code).toBe(2);
  });
});
