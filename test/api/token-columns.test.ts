import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, client, makeToken, makeVault, outcome } from "../support/service.ts";
import { deleteIssuers, exchange, makeRule, makeWorkload } from "../support/workloads.ts";

/**
 * The plaintext columns of the rows of tokens, people, issuers and rules only find rows: the sealed claims decide, whatever someone who writes to
 * D1 has put there (contract 8.3, 8.16, 25.1, 27.1).
 */

interface Made {
  readonly id: string;
  readonly token: string;
}

const PERSON = "ada@columns.example.com";

let holder: Made, child: Made, other: Made;
let person: { readonly id: string };
let issuer: string, rule: string;
/** The names that only the admin may see. */
let names: readonly string[];

const below = async (above: Made, name: string): Promise<Made> =>
  (await client(above.token)("POST", "/v1/tokens", { body: { name, vaults: {} } })).body;

beforeAll(async () => {
  const vault = await makeVault();
  const make = async (name: string): Promise<Made> => makeToken({ [vault]: "r" }, { name, delegate: true });
  [holder, other] = [await make("columns holder"), await make("columns other")];
  child = await below(holder, "columns child");
  await below(other, "columns child of the other");
  person = (await admin("POST", "/v1/admin/people", { body: { email: PERSON, vaults: { [vault]: "rw" } } })).body;
  ({ issuer } = await makeWorkload({ name: "columns issuer" }));
  ({ id: rule } = await makeRule(issuer, { name: "columns rule", vaults: { [vault]: "r" } }));
  names = ["columns other", "columns child of the other", PERSON, "columns issuer", "columns rule"];
});

afterAll(deleteIssuers);

const ANCESTORS = ["ancestor_1", "ancestor_2", "ancestor_3"] as const;
const COLUMNS = ["kind", "name_index", ...ANCESTORS] as const;

/** Runs with all rows of `tokens` changed, and puts them back. */
async function withColumns<T>(change: string, values: readonly (string | null)[], run: () => Promise<T>): Promise<T> {
  const { results } = await env.DB.prepare("SELECT * FROM tokens").all<Record<string, string | null>>();
  await env.DB.prepare(`UPDATE tokens SET ${change}`)
    .bind(...values)
    .run();
  try {
    return await run();
  } finally {
    const sql = `UPDATE tokens SET ${COLUMNS.map((column, at) => `${column} = ?${at + 2}`).join()} WHERE id = ?1`;
    await env.DB.batch(results.map((row) => env.DB.prepare(sql).bind(row.id, ...COLUMNS.map((column) => row[column] ?? null))));
  }
}

describe.each(ANCESTORS)("with a token's id in %s of every other row", (column) => {
  const change = `${column} = ?1 WHERE id <> ?1`;

  it("GET /v1/tokens shows the token what it has issued, and nothing else", async () => {
    const { text, body } = await withColumns(change, [holder.id], () => client(holder.token)("GET", "/v1/tokens"));
    expect(body.map(({ id }: Made) => id)).toEqual([child.id]);
    expect(names.filter((name) => text.includes(name))).toEqual([]);
  });

  it("DELETE /v1/tokens ends none of them", async () => {
    for (const { id } of [other, person, { id: rule }]) {
      const reply = await withColumns(change, [holder.id], () => client(holder.token)("DELETE", `/v1/tokens/${id}`));
      expect(outcome(reply)).toEqual([404, "token_not_found"]);
    }
    expect((await client(other.token)("GET", "/v1/token")).status).toBe(200);
  });
});

describe("with the kind of another row", () => {
  const LISTS = [
    ["tokens", "a token", null, () => other.id],
    ["people", "a person", "person", () => person.id],
    ["issuers", "an issuer", "issuer", () => issuer],
    ["rules", "a rule", "rule", () => rule],
  ] as const;
  const KINDS = LISTS.flatMap(([list, , kind]) =>
    LISTS.filter(([another]) => another !== list).map(([, row, , idOf]) => [list, row, kind, idOf] as const),
  );
  it.each(KINDS)("GET /v1/admin/%s shows the row of %s as a broken one", async (list, _, kind, idOf) => {
    const id = idOf();
    // A list of people also looks at an index.
    const change = "kind = ?2, name_index = coalesce(name_index, 'x') WHERE id = ?1";
    const [listed, shown] = await withColumns(change, [id, kind], async () => [
      (await admin("GET", `/v1/admin/${list}`)).body.find((one: Made) => one.id === id),
      (await admin("GET", `/v1/admin/${list}/${id}`)).body,
    ]);
    const broken = expect.objectContaining({ id, broken: "integrity" });
    expect([listed, shown]).toEqual([broken, broken]);
  });

  it.each(KINDS.filter(([list]) => list !== "tokens"))(
    "DELETE /v1/admin/%s does not end the row of %s",
    async (list, _, kind, idOf) => {
      const id = idOf();
      const reply = await withColumns("kind = ?2 WHERE id = ?1", [id, kind], () => admin("DELETE", `/v1/admin/${list}/${id}`));
      expect(reply.status).toBe(404);
      const row = await env.DB.prepare("SELECT id FROM tokens WHERE id = ?1").bind(id).first();
      expect(row).toEqual({ id });
    },
  );
});

const tryRule = async (of: string): Promise<object[]> =>
  (await admin("POST", "/v1/admin/rules/test", { body: { issuer: of, claims: { job: "deploy" }, vaults: {} } })).body;

it("POST /v1/admin/rules/test tries the workload tokens of its issuer only", async () => {
  const workload = await makeWorkload();
  await makeRule(workload.issuer, {});
  expect((await exchange(await workload.token())).status).toBe(200);
  expect(await tryRule(workload.issuer)).toHaveLength(1);
  await env.DB.prepare("UPDATE exchanges SET issuer_id = ?1 WHERE issuer_id = ?2").bind(issuer, workload.issuer).run();
  expect(await tryRule(issuer)).toEqual([]);
});
