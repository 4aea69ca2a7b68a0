import { describe, expect, it, vi } from "vitest";
import { admin, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { QUEUED } from "../support/waits.ts";
import { startApi } from "./support/api.ts";
import { ADMIN, runHere } from "./support/here.ts";

/** The reports for auditors: `admin access-report` and `admin changes`. */

const id = (digit: number) => `${String(digit).repeat(8)}-1111-4111-8111-111111111111`;
type Ids = readonly [string, string, string, string, string, string, string];
const [VAULT, TOKEN, CHILD, ADA, PEOPLE_RULE, WORKLOAD_RULE, ITEM] = [1, 2, 3, 4, 5, 6, 7].map(id) as unknown as Ids;
const day = (number: number) => `2026-11-0${number}T00:00:00.000Z`;
const [CREATED, CHANGED, USED, ENDS] = [day(1), day(2), day(3), day(4)] as const;
const TIMES = { createdAt: CREATED, expiresAt: ENDS };

/** An entry of the log of the admin. */
const entry = (timestamp: string, actor: string, action: string, resource: object, result = "SUCCESS") => ({
  requestId: `0192abcd-0000-7000-8000-${timestamp.slice(0, 10).replaceAll("-", "")}0000`,
  timestamp,
  action,
  result,
  actor: { id: actor, userAgent: "", requestIp: "" },
  resource,
});

const ANSWERS: Readonly<Record<string, readonly object[]>> = {
  "/v1/admin/vaults": [{ id: VAULT, name: "Production", webhooks: 1 }],
  "/v1/admin/tokens": [
    { id: TOKEN, name: "ci", vaults: { [VAULT]: "rw" }, delegate: true, ...TIMES },
    { id: CHILD, name: "=run|1", vaults: { [VAULT]: { permissions: "r", items: [ITEM] } }, parent: TOKEN, ...TIMES },
    { id: id(8), name: "copy", vaults: {}, admin: true, backupsOnly: true, ...TIMES },
    { id: id(9), name: "ended", vaults: { [VAULT]: "r" }, ...TIMES, endedAt: ENDS },
    { id: ITEM, broken: "integrity", ...TIMES },
  ],
  "/v1/admin/people": [
    { id: ADA, email: "ada@example.com", vaults: { [id(0)]: "r" }, admin: true, rule: PEOPLE_RULE, ...TIMES, updatedAt: CHANGED },
  ],
  "/v1/admin/rules": [
    { id: PEOPLE_RULE, name: "platform, team", people: true, admin: true, vaults: {}, createdAt: CREATED },
    { id: WORKLOAD_RULE, name: "\u001B[2Jdeploy", vaults: { [VAULT]: "r" }, createdAt: CREATED },
  ],
  "/v1/admin/activity": [
    entry(ENDS, ADA, "READ", { type: "VAULT" }),
    entry(USED, WORKLOAD_RULE, "CREATE", { type: "EXCHANGE" }),
    entry(CHANGED, ADA, "CREATE", { type: "TOKEN", token: { id: TOKEN } }),
    entry(CREATED, "admin", "CREATE", { type: "RULE", rule: { id: WORKLOAD_RULE } }),
  ],
  [`/v1/admin/tokens/${TOKEN}/activity`]: [{ ...entry(USED, TOKEN, "READ", { type: "VAULT" }), log: VAULT }],
};

/** A service with these answers; other lists are empty. A page of the log has two entries. */
async function startAdmin(changed: Readonly<Record<string, readonly object[] | number>> = {}) {
  const answers = { ...ANSWERS, ...changed };
  const { env, requests } = await startApi(({ url }) => {
    const { pathname, searchParams } = new URL(url, "http://localhost");
    const answer = answers[pathname] ?? [];
    if (typeof answer === "number") return { status: answer, body: { status: answer, message: "refused" } };
    if (pathname !== "/v1/admin/activity") return { body: answer };
    const first = Number(searchParams.get("before") ?? 0);
    const body = answer.slice(first, first + 2);
    if (first + 2 >= answer.length) return { body };
    return { headers: { Link: `<http://x${pathname}?before=${first + 2}>; rel="next"` }, body };
  });
  return { run: (...args: readonly string[]) => runHere(["admin", ...args], { env }), requests };
}

describe("admin access-report", () => {
  it("has a row for each vault or item of each token in use, person and rule", async () => {
    const { run } = await startAdmin();
    const { code, stdout, stderr } = await run("access-report");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual([
      "kind,name,id,vault,vault id,item id,rights,since,last used,issued by,ends",
      `person,ada@example.com,${ADA},,,,administration,${CHANGED},${ENDS},"platform, team",`,
      `person,ada@example.com,${ADA},,${id(0)},,r,${CHANGED},${ENDS},"platform, team",`,
      `rule for people,"platform, team",${PEOPLE_RULE},,,,administration,${CREATED},,an administrator,`,
      String.raw`rule for workloads,\x1b[2Jdeploy,${WORKLOAD_RULE},Production,${VAULT},,r,${CREATED},${USED},admin,`,
      `token,(cannot be decrypted),${ITEM},,,,unknown: cannot be decrypted,${CREATED},,an administrator,${ENDS}`,
      `token,'=run|1,${CHILD},Production,${VAULT},${ITEM},r,${CREATED},,ci,${ENDS}`,
      `token,ci,${TOKEN},Production,${VAULT},,"rw, issues tokens",${CREATED},${USED},ada@example.com,${ENDS}`,
      `token,copy,${id(8)},,,,backups,${CREATED},,an administrator,${ENDS}`,
      "",
    ]);
  });

  it("is the same in whatever order the service lists", async () => {
    const reversed = Object.entries(ANSWERS).map(([path, list]) => [path, path.endsWith("activity") ? list : list.toReversed()]);
    const [one, other] = [await startAdmin(), await startAdmin(Object.fromEntries(reversed))];
    expect((await one.run("access-report")).stdout).toBe((await other.run("access-report")).stdout);
  });

  it.each([
    ["tokens", 401],
    ["people", 401],
    ["rules", 401],
    ["activity", 500],
    [`tokens/${TOKEN}/activity`, 500],
  ])("writes nothing if a part of it fails: %s", async (path, status) => {
    const { run } = await startAdmin({ [`/v1/admin/${path}`]: status });
    expect(await run("access-report")).toMatchObject({ code: status === 401 ? 3 : 6, stdout: "" });
  });

  it("has no last use with a token that only reads lists, and says so", async () => {
    const vault = await makeVault("Listed");
    const { id: issued } = await admin("POST", "tokens", { name: "listed", vaults: { [vault]: "r" } });
    const { token } = await admin("POST", "tokens", { name: "reports", adminRead: true });
    const { code, stdout, stderr } = await runHere("admin access-report", { env: { ITEM_VAULT_ADMIN_TOKEN: token } });
    expect([code, stderr]).toEqual([0, "This token reads no log: the last uses and some issuers are missing\n"]);
    const row = stdout.split("\n").filter((line) => line.includes(issued));
    expect(row).toEqual([expect.stringMatching(/^token,listed,.*Z,,an administrator,/)]);
    expect(stdout).toContain(",lists of the administrator,");
  });

  it("has the time of the last request of a token", async () => {
    const vault = await makeVault("Reported");
    const { token, id: issued } = await admin("POST", "tokens", { name: "reported", vaults: { [vault]: "r" } });
    await sendRequest("GET", `v1/vaults/${vault}/items`, token);
    await vi.waitFor(async () => {
      const { stdout } = await runHere("admin access-report", { env: ADMIN });
      const row = stdout.split("\n").filter((line) => line.includes(issued));
      expect(row).toEqual([
        expect.stringMatching(new RegExp(`^token,reported,${issued},Reported,${vault},,r,(\\S+Z,){2}admin,`)),
      ]);
    }, QUEUED);
  });
});

const rowsOf = (stdout: string) => stdout.split("\n").map((line) => line.split(/ {2,}/).slice(1, 4).join(" | "));

describe("admin changes", () => {
  const WEBHOOK = "aaaaaaaa-1111-4111-8111-111111111111";
  const changes = {
    "/v1/admin/activity": [
      entry(ENDS, ADA, "DELETE", { type: "RULE", rule: { id: WORKLOAD_RULE } }),
      entry(ENDS, ADA, "UPDATE", { type: "VAULT", vault: { id: VAULT } }, "DENY"),
      entry(ENDS, ADA, "READ", { type: "TOKEN" }),
      entry(ENDS, ADA, "CREATE", { type: "SESSION", session: { id: ADA } }),
      entry(ENDS, WORKLOAD_RULE, "CREATE", { type: "EXCHANGE", exchange: { id: TOKEN } }),
      entry(USED, "admin", "UPDATE", { type: "SESSION", session: { id: ADA }, vaults: [{ id: VAULT }] }),
      entry(USED, "admin", "CREATE", { type: "WEBHOOK", webhook: { id: WEBHOOK } }),
      entry(CHANGED, id(9), "CREATE", { type: "JOB", job: { id: id(0) } }),
      entry(CREATED, "admin", "CREATE", { type: "TOKEN", token: { id: TOKEN } }),
      entry(CREATED, "admin", "CREATE", { type: "TOKEN", token: { id: CHILD } }),
    ],
    "/v1/admin/jobs": [{ id: id(0), kind: "backup" }],
    [`/v1/admin/vaults/${VAULT}/webhooks`]: [{ id: WEBHOOK, url: "https://hooks.example/canary-7c1f?key=canary-7c1f" }],
  };

  it("are the successful writes of the log but sign-ins and exchanges, with the names that are known", async () => {
    const { run } = await startAdmin(changes);
    const { code, stdout } = await run("changes", "--since", CHANGED);
    expect(code).toBe(0);
    expect(rowsOf(stdout)).toEqual([
      "WHO | CHANGE | RESOURCE",
      `ada@example.com | DELETE | rule \\x1b[2Jdeploy`,
      "admin | UPDATE | session ada@example.com Production",
      "admin | CREATE | webhook hooks.example",
      `ended | CREATE | job backup`,
      "",
    ]);
    expect(stdout).not.toContain("canary");
  });

  it("ask for no page after the first entry that is older than --since", async () => {
    const { run, requests } = await startAdmin(changes);
    expect((await run("changes", "--since", ENDS)).stderr).toBe("");
    expect(requests.filter(({ url }) => url.startsWith("/v1/admin/activity"))).toHaveLength(3);
  });

  it("have in JSON the entries with the names beside the ids", async () => {
    const { run } = await startAdmin(changes);
    const [first] = JSON.parse((await run("changes", "--since", ENDS, "--format", "json")).stdout);
    const names = { actorName: "ada@example.com", resourceName: "rule \u001B[2Jdeploy" };
    expect(first).toEqual({ ...changes["/v1/admin/activity"][0], ...names });
  });

  it("say on stderr that the log ends before --since, unless every log reaches so far", async () => {
    const { run } = await startAdmin({ "/v1/admin/activity": [{ requestId: "", broken: "integrity" }] });
    expect(await run("changes", "--since", "2026-01-01")).toMatchObject({
      code: 0,
      stdout: "",
      stderr:
        "Entries that cannot be decrypted: 1\nThe log has no older entries. Its archive may: `item-vault activity export`.\n",
    });
    expect((await run("changes", "--since", "2h")).stderr).not.toContain("archive");
  });

  it.each(["yesterday", "", "5"])("refuse a --since that is no time: %j", async (since) => {
    const { run, requests } = await startAdmin();
    expect(await run("changes", "--since", since)).toMatchObject({ code: 2, stdout: "" });
    expect(requests).toEqual([]);
  });
});
