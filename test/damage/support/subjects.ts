import { env } from "cloudflare:workers";
import { browser, cookieOf } from "../../support/console.ts";
import { authorized, loginCode, redeem } from "../../support/logins.ts";
import { admin, type Client, client, makeToken, makeVault, type Reply } from "../../support/service.ts";
import { exchange, makeRule, makeWorkload } from "../../support/workloads.ts";

/** Subjects of everything that authenticates: each has its own vault, and one row of each role. */

/** What a subject does with its credentials. An answer names the subject, or is a refusal. */
export interface Use {
  readonly name: string;
  readonly ask: () => Promise<Reply>;
  /** Whether it uses something up, or a refusal of it is remembered. */
  readonly once?: true;
}

/** The roles of rows, by table. */
export const ROLES: Readonly<Record<string, readonly string[]>> = {
  tokens: ["token", "child", "person", "login", "issuer", "rule"],
  ended_tokens: ["ended"],
  exchanges: ["exchange"],
  sessions: ["session", "sign-in code", "browser code", "pasted code"],
};

export interface Subject {
  /** What an answer about the subject contains, and one about another subject does not. */
  readonly mark: string;
  readonly uses: readonly Use[];
  /** The rows of the subject, by table and role: the values of the primary key. */
  readonly rows: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The id of the row of a cookie or code. */
async function secretId(text: string): Promise<string> {
  const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

const use = (name: string, call: Client, method: string, path: string, body?: object): Use => ({
  name,
  ask: () => call(method, path, body && { body }),
});

/** Signs in with Access, as the test file does. */
export type SignIn = (email: string) => Promise<Reply>;

export async function plantSubject(signInAs: SignIn): Promise<Subject> {
  const mark = crypto.randomUUID();
  const vault = await makeVault(`vault ${mark}`);
  const vaults = { [vault]: "rwd" } as const;
  const token = await makeToken(vaults, { name: `token ${mark}`, delegate: true });
  const ended = await makeToken(vaults, { name: `ended ${mark}` });
  await admin("DELETE", `/v1/admin/tokens/${ended.id}`);
  const child = (await client(token.token)("POST", "/v1/tokens", { body: { name: `child ${mark}`, vaults } })).body;
  const email = `${mark}@example.com`;
  const person = (await admin("POST", "/v1/admin/people", { body: { email, vaults } })).body.id;
  const workload = await makeWorkload({ name: `issuer ${mark}` });
  const rule = (await makeRule(workload.issuer, { name: `rule ${mark}`, vaults })).id;
  await exchange(await workload.token({ mark }));
  const cookie = cookieOf(await signInAs(email));
  const asPerson = browser(cookie);
  const asToken = client(token.token);
  const login = (await redeem({ code: await loginCode(asPerson, { vaults }) })).body;
  const [signInCode, pasted] = [(await asToken("POST", "/v1/sign-in-codes")).body.code, await loginCode(asPerson, { vaults })];
  const browserLogin = (await authorized({ call: asPerson })) as { code: string };
  const presented = await workload.token({ mark });
  const uses: Use[] = [
    ...["/v1/token", "/v1/tokens", "/v1/vaults"].map((path) => use(`the token: ${path}`, asToken, "GET", path)),
    use("the child", client(child.token), "GET", "/v1/token"),
    use("the token of a login", client(login.token), "GET", "/v1/token"),
    ...["/console/session", "/v1/tokens", "/v1/vaults"].map((path) => use(`the session: ${path}`, asPerson, "GET", path)),
    { name: "the email", ask: () => signInAs(email), once: true },
    { ...use("the sign-in code", browser(undefined), "POST", "/console/session", { code: signInCode }), once: true },
    { name: "the code of a login in a browser", ask: () => redeem(browserLogin), once: true },
    { name: "the pasted code", ask: () => redeem({ code: pasted }), once: true },
    { name: "the workload", ask: () => useExchanged(presented), once: true },
    use("the test of rules", admin, "POST", "/v1/admin/rules/test", { issuer: workload.issuer, claims: { mark }, vaults: {} }),
    ...[
      ["tokens", [token.id, child.id, login.id, ended.id]],
      ["people", [person]],
      ["issuers", [workload.issuer]],
      ["rules", [rule]],
    ].flatMap(([list, ids]) =>
      (ids as string[]).map((id) => use(`${list as string} ${id}`, admin, "GET", `/v1/admin/${list as string}/${id}`)),
    ),
  ];
  const exchanged = await env.DB.prepare("SELECT id FROM exchanges WHERE issuer_id = ?")
    .bind(workload.issuer)
    .first<string>("id");
  const ids = { token: token.id, child: child.id, person, login: login.id, issuer: workload.issuer, rule };
  const secrets = { session: cookie, "sign-in code": signInCode, "browser code": browserLogin.code, "pasted code": pasted };
  return {
    mark,
    uses,
    rows: {
      tokens: ids,
      ended_tokens: { ended: ended.id },
      exchanges: { exchange: exchanged! },
      sessions: Object.fromEntries(
        await Promise.all(Object.entries(secrets).map(async ([role, text]) => [role, await secretId(text)] as const)),
      ),
    },
  };
}

/** Exchanges a workload token, and shows the token that it gives. */
async function useExchanged(presented: string): Promise<Reply> {
  const reply = await exchange(presented);
  return reply.status === 200 ? client(reply.body.access_token)("GET", "/v1/token") : reply;
}
