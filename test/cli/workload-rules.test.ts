import { describe, expect, it } from "vitest";
import { parseClaim } from "../../packages/cli/src/tokens/rules.ts";
import { startApi } from "./support/api.ts";
import { fileOf } from "./support/files.ts";
import { ends, prints, runHere } from "./support/here.ts";

/** The commands of issuers and rules, with a server that answers as the API does. */

const CREATED = "2026-11-22T03:00:00.000Z";
const ISSUER = {
  id: "11111111-1111-4111-8111-111111111111",
  name: "GitHub",
  issuer: "https://issuer.example",
  preset: "github",
  once: true,
  createdAt: CREATED,
};
const VAULT = { id: "22222222-2222-4222-8222-222222222222", name: "Production" };
const RULE = {
  id: "33333333-3333-4333-8333-333333333333",
  issuer: ISSUER.id,
  claims: { repository_id: "1", ref_protected: true },
  vaults: { [VAULT.id]: "rw" },
  lifetime: 900,
  createdAt: CREATED,
};
const TRIED = { at: RULE.createdAt, issuer: ISSUER.id, matches: false, failed: ["repository_id", "ref"] };

/** What the server answers. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  "GET /v1/admin/vaults": [VAULT],
  "GET /v1/admin/issuers": [ISSUER, { id: RULE.id, broken: "integrity", createdAt: CREATED }],
  "POST /v1/admin/issuers": ISSUER,
  [`GET /v1/admin/issuers/${ISSUER.id}`]: ISSUER,
  [`DELETE /v1/admin/issuers/${ISSUER.id}`]: {},
  "GET /v1/admin/rules": [RULE, { id: ISSUER.id, broken: "integrity", createdAt: CREATED }],
  "POST /v1/admin/rules": RULE,
  "POST /v1/admin/rules/test": [TRIED],
  [`GET /v1/admin/rules/${RULE.id}`]: RULE,
  [`DELETE /v1/admin/rules/${RULE.id}`]: {},
};

async function startAdmin() {
  const { env, requests, names } = await startApi(({ name }) => (ANSWERS[name] ? { body: ANSWERS[name] } : { status: 404 }));
  const run = (...args: readonly string[]) => runHere(args, { env });
  return { run, names, sent: () => requests.map(({ name, body }) => ({ name, body: body && JSON.parse(body) })) };
}

const CLAIMS = ["--claim", "repository_id=1", "--claim", "ref_protected:=true"];

describe("issuer create", () => {
  it.each([
    [["--preset", "github"], { issuer: "https://token.actions.githubusercontent.com", preset: "github" }],
    [["--preset", "gitlab"], { issuer: "https://gitlab.com", preset: "gitlab" }],
    [["--preset", "buildkite"], { issuer: "https://agent.buildkite.com", preset: "buildkite" }],
    [["--preset", "gitlab", "--url", "https://git.example"], { issuer: "https://git.example", preset: "gitlab" }],
    [["--url", "https://idp.example", "--once", "no"], { issuer: "https://idp.example", once: false }],
    [["--url", "https://idp.example", "--jwks", fileOf('{"keys":[]}')], { issuer: "https://idp.example", jwks: { keys: [] } }],
  ])("with %s sends the issuer", async (args, expected) => {
    const { run, sent } = await startAdmin();
    expect(await run("issuer", "create", "A", ...args)).toMatchObject({ code: 0 });
    expect(sent()).toEqual([{ name: "POST /v1/admin/issuers", body: { name: "A", ...expected } }]);
  });

  it.each([
    ["a URL", [], "--url"],
    ["the URL of a cluster", ["--preset", "kubernetes"], "--url"],
    ["a file of keys", ["--url", "https://a.example", "--jwks", "/nowhere"], "cannot be read: it does not exist"],
    ["JSON in the file", ["--url", "https://a.example", "--jwks", fileOf("-----BEGIN PRIVATE KEY")], "is not JSON"],
    ["a set in the file", ["--url", "https://a.example", "--jwks", fileOf("[]")], "is not a JWK set"],
  ])("without %s sends nothing, and shows no part of a file", async (_, args, message) => {
    const { run, sent } = await startAdmin();
    const ran = await run("issuer", "create", "A", ...args);
    expect(ran).toMatchObject(ends(2, message));
    expect(ran.stderr).not.toContain("PRIVATE");
    expect(sent()).toEqual([]);
  });
});

describe("rule create and rule test", () => {
  it.each([
    ["create", "POST /v1/admin/rules"],
    ["test", "POST /v1/admin/rules/test"],
  ])("%s sends the rule, with the ids of what is named", async (command, name) => {
    const { run, sent } = await startAdmin();
    const more = ["--vault", "Production=rw", "--lifetime", "30m", "--dialect", "connect", "--any-repository"];
    expect(await run("rule", command, "--issuer", "GitHub", ...CLAIMS, ...more, "--format", "json")).toMatchObject({ code: 0 });
    const { id: _id, createdAt: _createdAt, ...rule } = RULE;
    const body = { ...rule, lifetime: 1800, dialect: "connect", anyRepository: true };
    expect(sent().at(-1)).toEqual({ name, body });
  });

  it("with ids send one request, where no table needs names", async () => {
    const { run, sent } = await startAdmin();
    await run("rule", "create", "--issuer", ISSUER.id, ...CLAIMS, "--vault", VAULT.id, "--allow-subject", "--format", "json");
    expect(sent()).toMatchObject([{ name: "POST /v1/admin/rules", body: { vaults: { [VAULT.id]: "r" }, allowSubject: true } }]);
  });

  it.each([
    ["without an issuer", CLAIMS, "--issuer"],
    ["without a claim", ["--issuer", "GitHub"], "--claim"],
    ["with a claim twice", ["--issuer", "GitHub", "--claim", "a=1", "--claim", "a:=1"], "twice"],
    ["with a value that is no JSON of a claim", ["--issuer", "GitHub", "--claim", "a:=[1]"], "--claim"],
  ])("%s send nothing", async (_, args, message) => {
    const { run, sent } = await startAdmin();
    expect(await run("rule", "create", "--vault", VAULT.id, ...args)).toMatchObject(ends(2, message));
    expect(sent()).toEqual([]);
  });
});

it.each([
  ["issuer list", [ISSUER.id, "GitHub", "https://issuer.example", "(cannot be decrypted)"]],
  ["issuer get GitHub", [ISSUER.id, "github"]],
  ["rule list", [RULE.id, "repository_id=1 ref_protected:=true", "(cannot be decrypted)"]],
  [`rule get ${RULE.id}`, ["Issuer    GitHub", "Vault     Production rw", "15 minutes", "2026-11-22 03:00:00"]],
  [`rule test --issuer GitHub ${CLAIMS.join(" ")}`, [ISSUER.id, "no", "repository_id ref"]],
])("%s shows what the service answers", async (line, texts) => {
  const { run } = await startAdmin();
  expect(await run(...line.split(" "))).toMatchObject(prints(0, ...texts));
});

it.each([
  ["issuer delete GitHub", `DELETE /v1/admin/issuers/${ISSUER.id}`],
  [`rule delete ${RULE.id}`, `DELETE /v1/admin/rules/${RULE.id}`],
])("%s deletes it", async (line, name) => {
  const { run, names } = await startAdmin();
  expect(await run(...line.split(" "))).toMatchObject({ code: 0 });
  expect(names().at(-1)).toBe(name);
});

describe("--claim", () => {
  it.each([
    ["repository_id=123", "repository_id", "123"],
    ["a=", "a", ""],
    ["a=b=c", "a", "b=c"],
    ["/kubernetes.io/namespace=shop", "/kubernetes.io/namespace", "shop"],
    ["https://example.com/role=admin", "https://example.com/role", "admin"],
    ["urn:x:=7", "urn:x", 7],
    ["a:=-1", "a", -1],
    ["a:=false", "a", false],
    ["a=true", "a", "true"],
  ])("%s", (text, name, value) => expect(parseClaim(text)).toEqual([name, value]));

  it.each(["", "a", "=b", "a:=", "a:=1.5", 'a:="b"', "a:=null", "a:=9007199254740993"])("refuses %j", (text) =>
    expect(() => parseClaim(text)).toThrow("--claim takes"),
  );
});
