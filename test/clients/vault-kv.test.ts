import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { kv } from "../support/kv.ts";
import { client, makeToken, makeVault, type Reply } from "../support/service.ts";
import { deleteIssuers, makeRule, makeWorkload, type Workload } from "../support/workloads.ts";

/**
 * Clients of HashiCorp Vault's KV v2 engine (contract 29): each sends the requests that its sources build, in their order, and the test has what its
 * code needs of each answer.
 *
 * Read: external-secrets cc5bfbc, hashicorp/vault-action 4c06c5c, Dokploy 772b768, helmfile/vals 5e1eb8a, varlock's plugin 023fda1, bank-vaults,
 * OpenBao's kv_helpers, vault/api's kv_v2.
 */

afterEach(deleteIssuers);

let vault: string;
let token: string;
let workload: Workload;

/** A request of a client. */
interface Step {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  /** Of a login. */
  readonly role?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
  /** What the code of the client needs of the answer. */
  readonly needs?: object;
}

/** What `vault/api` sends with each request. */
const GO = { "X-Vault-Request": "true", "User-Agent": "Go-http-client/1.1" };

const get = (path: string, needs?: object, status = 200): Step => ({ method: "GET", path, status, ...(needs && { needs }) });
const login = (method: "POST" | "PUT", mount: string, role: string): Step => ({
  method,
  path: `auth/${mount}/login`,
  role,
  needs: { auth: { client_token: expect.any(String), renewable: false, lease_duration: expect.any(Number), policies: [] } },
});
const revoke: Step = { method: "PUT", path: "auth/token/revoke-self", status: 204 };

const SECRET = {
  data: {
    data: { password: "p1", username: "app" },
    metadata: { version: 1, custom_metadata: null, deletion_time: "", destroyed: false },
  },
};
/** External Secrets takes a token without `expire_time` for one that never expires, and reads `ttl` and `type` otherwise. */
const LOOKUP = { data: { type: "service", ttl: expect.any(Number), expire_time: expect.stringMatching(/Z$/), renewable: false } };
const MOUNT = { data: { path: "team/", type: "kv", options: { version: "2" } } };

const CLIENTS: Readonly<Record<string, readonly Step[]>> = {
  "External Secrets with a token": [
    get("auth/token/lookup-self", LOOKUP),
    get("team/data/prod/db", SECRET),
    get("team/data/prod/db?version=1", SECRET),
    get("team/metadata/prod/db", { data: { custom_metadata: null } }),
    get("team/metadata/?list=true", { data: { keys: ["prod/db"] } }),
    get("team/metadata/prod?list=true", { data: { keys: ["db"] } }),
    get("team/data/none", { errors: [] }, 404),
  ],
  "External Secrets with a service account": [
    login("PUT", "kubernetes", "team-rule"),
    get("team/data/prod/db", SECRET),
    get("auth/token/lookup-self", LOOKUP),
    revoke,
  ],
  "vault-action": [
    login("POST", "jwt", ""),
    { ...get("team/data/prod/db", SECRET), headers: { "X-Vault-Namespace": "", "User-Agent": "got" } },
    { method: "POST", path: "auth/token/revoke-self", status: 204 },
  ],
  Dokploy: [
    get("auth/token/lookup-self"),
    get("team/metadata?list=true", { data: { keys: ["prod/db"] } }),
    get("team/metadata/prod?list=true", { data: { keys: ["db"] } }),
    get("team/data/prod/db", SECRET),
  ],
  "vals, and `bao kv get`": [
    get("sys/internal/ui/mounts/team/prod/db", MOUNT),
    get("team/data/prod/db", SECRET),
    get("sys/internal/ui/mounts/none/prod/db", { errors: ["permission denied"] }, 403),
  ],
  varlock: [login("POST", "github", "team-rule"), get("team/data/prod/db", SECRET)],
  "bank-vaults": [login("PUT", "kubernetes", "default"), get("team/data/prod/db", SECRET), revoke],
};

beforeAll(async () => {
  vault = await makeVault("team");
  ({ token } = await makeToken({ [vault]: "rw" }));
  const fields = [
    { label: "username", value: "app" },
    { label: "password", type: "CONCEALED", value: "p1" },
  ];
  await client(token)("POST", `/v1/vaults/${vault}/items`, { body: { title: "prod/db", category: "LOGIN", fields } });
});

/** Sends the requests of a client, each with the token of the login before it. */
async function replay(steps: readonly Step[]): Promise<Reply[]> {
  const replies: Reply[] = [];
  let own = token;
  for (const { method, path, role, headers = GO } of steps) {
    const reply = await (role === undefined
      ? kv(method, path, { token: own, headers })
      : kv(method, path, { headers, body: { jwt: await workload.token(), role } }));
    if (role !== undefined) own = reply.body?.auth?.client_token;
    replies.push(reply);
  }
  return replies;
}

describe("the requests of", () => {
  it.each(Object.entries(CLIENTS))("%s are answered as its code needs it", async (_, steps) => {
    workload = await makeWorkload();
    await makeRule(workload.issuer, { name: "team-rule", vaults: { [vault]: "r" } });
    for (const [index, reply] of (await replay(steps)).entries()) {
      const { path, status = 200, needs = {} } = steps[index]!;
      expect([path, reply.status]).toEqual([path, status]);
      expect(reply.body ?? {}).toMatchObject(needs);
    }
  });
});

/** Contract 29.9. */
describe("a login", () => {
  it("needs the rule that its role names, by id or name; without a role or as default the only one that matches", async () => {
    workload = await makeWorkload();
    const rules = [
      await makeRule(workload.issuer, { name: "one", vaults: { [vault]: "r" }, lifetime: 60 }),
      await makeRule(workload.issuer, { name: "two", vaults: { [vault]: "r" } }),
    ];
    const statuses: unknown[] = [];
    for (const role of ["", "default", undefined, "one", rules[1]!.id, "three"]) {
      const { status, body } = await kv("PUT", "auth/jwt/login", { body: { jwt: await workload.token(), role } });
      statuses.push([status, body.errors ?? body.auth.lease_duration]);
    }
    const refused = [403, ["permission denied"]];
    expect(statuses).toEqual([refused, refused, refused, [200, 60], [200, 900], refused]);
  });

  it.each([{}, { jwt: "" }, { jwt: 1 }, { role: "x" }])("that is malformed is a 400: %j", async (body) => {
    const { status, body: answer } = await kv("POST", "auth/jwt/login", { body });
    expect([status, answer.errors]).toEqual([400, [expect.stringContaining("jwt")]]);
  });

  it("gives a token of the rule, which revoke-self ends", async () => {
    workload = await makeWorkload();
    await makeRule(workload.issuer, { name: "team-rule", vaults: { [vault]: "r" } });
    const { body } = await kv("POST", "auth/jwt/login", { body: { jwt: await workload.token(), role: "team-rule" } });
    const own = body.auth.client_token;
    expect((await client(own)("GET", "/v1/token")).body).toMatchObject({ name: "team-rule", vaults: { [vault]: "r" } });
    await kv("PUT", "auth/token/revoke-self", { token: own });
    expect((await client(own)("GET", "/v1/token")).status).toBe(401);
  });
});
