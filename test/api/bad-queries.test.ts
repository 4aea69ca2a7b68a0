import { beforeAll, describe, expect, it } from "vitest";
import { admin, type Client, freshVault, LOGIN } from "../support/service.ts";

/** Queries that are malformed: a 400 that names the parameter (contract 4.3, 5.1, 5.11, 11.3, 13.9, 13.25, 14.15, 15.3, 15.6). */

const FILTER = "Unsupported request filter";
const NO_TERMS = ["title eq 'x'", 'title eq "x', 'title eq x"', "title eq x", '""', '"', 'title eq "x" and'];
const NO_ATTRIBUTES = ['name eq "x"', 'title gt "x"', 'tag co "x"', 'category eq "NOPE"', "favorite eq maybe"];
const VAULT_FILTERS = ['name co "x"', 'tag eq "x"', "name eq 'x'", 'id eq "x"', 'name eq "x" or name eq "y"'];
const encoded = (filters: readonly string[]) => filters.map((filter) => `filter=${encodeURIComponent(filter)}`);
const NO_LIMITS = ["0", "-1", "1001", "1.5", "x", "", "1e2"].map((limit) => `limit=${limit}`);
const NO_ENTRIES = ["x", "", "01234567-89ab-7def-8012", "zzzzzzzzzzzzzzzzzzzzzzzzz1"].map((id) => `before=${id}`);

/** The path below a vault, an Item or the root, the queries, and the beginning of the message. */
const QUERIES: readonly (readonly [path: string, message: string, queries: readonly string[]])[] = [
  ["{items}", "limit: is not an integer from 1 to 1000", NO_LIMITS],
  ["{items}", "", ["x", "", "00000000"].map((cursor) => `limit=1&cursor=${cursor}`)],
  ["{items}", "archived: is not true or false", ["2", "", "tRue", "yes", "on"].map((value) => `archived=${value}`)],
  [
    "{items}",
    "include: is not username",
    ["", "Username", "username,fields", "fields", "username&include=x"].map((one) => `include=${one}`),
  ],
  ["{items}", FILTER, encoded([...NO_TERMS, ...NO_ATTRIBUTES])],
  ["/v1/vaults", FILTER, encoded(VAULT_FILTERS)],
  ["{item}/versions", "limit: ", ["limit=0", "limit=101", "limit=x"]],
  ["{item}/versions", "cursor: ", ["cursor=0", "cursor=x", "cursor=01", "cursor=-1"]],
  ["{vault}/events", "after: ", ["after=", "after=1", "after=x", "after=1-"]],
  ["{vault}/events", "limit: ", ["limit=0", "limit=1001", "limit=x"]],
  ["{vault}/events", "wait: ", ["wait=31", "wait=-1", "wait=x", "wait=1.5"]],
  ["/v1/activity", "limit: is not an integer from 1 to 1000", ["limit=0", "limit=1001", "limit=x", "limit="]],
  ["/v1/activity", "offset: is not an integer from 0 to 1000", ["offset=-1", "offset=1001", "offset=1.5"]],
  ["/v1/activity", "before: is not the id of an entry", NO_ENTRIES],
  ["/v1/activity", "before: does not go with offset", [`offset=0&before=${crypto.randomUUID()}`]],
  ["/v1/activity", "vault: is not the id of a vault", ["vault=x"]],
  ["/v1/activity", "actor: is not the id of an actor", ["actor=nobody", "actor=Admin"]],
  ["/v1/activity", "item: is not the id of an Item", ["item=zzzzzzzzzzzzzzzzzzzzzzzzz1"]],
  ["/v1/activity", "action: is not one of READ, CREATE, UPDATE, DELETE", ["action=read"]],
  ["/v1/activity", "result: is not one of SUCCESS, DENY", ["result=deny"]],
  ["/v1/activity", "offset: does not go with a filter", ["result=DENY&offset=0"]],
  ["/v1/admin/activity", "item: the log of the admin has no Items", [`item=${crypto.randomUUID()}`]],
  ["/v1/admin/jobs", "", ["limit=0", "limit=x", "cursor=x", "cursor=1.x"]],
];

describe("a query that is malformed", () => {
  let places: Readonly<Record<string, string>>;
  let token: Client;
  beforeAll(async () => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    places = { "{items}": items, "{item}": `${items}/${id}`, "{vault}": `/v1/vaults/${vault}` };
    token = call;
  });

  it.each(QUERIES.flatMap(([path, message, queries]) => queries.map((query) => [path, query, message] as const)))(
    "is a 400 that names the parameter: %s?%s",
    async (path, query, message) => {
      const call = path.startsWith("/v1/admin") ? admin : token;
      const { body } = await call("GET", `${path.replace(/\{\w+\}/, (name) => places[name]!)}?${query}`);
      expect(body).toEqual({ status: 400, message: expect.stringContaining(message) });
    },
  );
});
