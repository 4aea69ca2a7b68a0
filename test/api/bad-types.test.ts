import { beforeAll, describe, expect, it } from "vitest";
import { sample } from "../support/runs.ts";
import { admin, type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/**
 * Values of the wrong type: a 400 that names the place and does not contain the value (contract 4.3 and 4.4). The short run sends a third of
 * the values for each place of an Item, at least one.
 */

const CANARY = "canary-7f3a";

const notText = [7, true, [CANARY], { [CANARY]: CANARY }];
const notBoolean = [CANARY, 1, "true", [CANARY], { [CANARY]: CANARY }];
const notList = [CANARY, 7, true, { [CANARY]: CANARY }, { 0: CANARY, length: 1 }];
const notObject = [CANARY, 7, true, [CANARY]];
const notWord = [CANARY, 7, true, [CANARY], { [CANARY]: CANARY }];
const notInteger = [CANARY, "8", 1.5, 0, -1, 65, true, [8]];

const asSecondField = (field: object) => ({ fields: [{ id: "first" }, field] });

/** The place that the message names, the wrong values, and the attributes that contain one of them: those of contract 2.3 and 2.4. */
const ITEM: readonly (readonly [string, readonly unknown[], (value: unknown) => object])[] = [
  ["title", notText, (title) => ({ title })],
  ["favorite", notBoolean, (favorite) => ({ favorite })],
  ["tags", notList, (tags) => ({ tags })],
  ["tags[1]", [...notText, null], (tag) => ({ tags: ["x", tag] })],
  ["urls", notList, (urls) => ({ urls })],
  ["urls[1]", [...notObject, null], (url) => ({ urls: [{ href: "" }, url] })],
  ["urls[0].href", [...notText, null, undefined], (href) => ({ urls: [{ href }] })],
  ["urls[0].label", notText, (label) => ({ urls: [{ href: "", label }] })],
  ["urls[0].primary", notBoolean, (primary) => ({ urls: [{ href: "", primary }] })],
  ["sections", notList, (sections) => ({ sections })],
  ["sections[1]", [...notObject, null], (section) => ({ sections: [{}, section] })],
  ["sections[0].id", notText, (id) => ({ sections: [{ id }] })],
  ["sections[0].label", notText, (label) => ({ sections: [{ label }] })],
  ["fields", notList, (fields) => ({ fields })],
  ["fields[1]", [...notObject, null], (field) => asSecondField(field as object)],
  ["fields[1].id", notText, (id) => asSecondField({ id })],
  ["fields[1].type", notWord, (type) => asSecondField({ type })],
  ["fields[1].purpose", notWord, (purpose) => asSecondField({ purpose })],
  ["fields[1].label", notText, (label) => asSecondField({ label })],
  ["fields[1].value", notText, (value) => asSecondField({ value })],
  ["fields[1].section", notObject, (section) => asSecondField({ section })],
  ["fields[1].section.id", notText, (id) => asSecondField({ section: { id } })],
  ["fields[1].section.label", notText, (label) => asSecondField({ section: { id: "s", label } })],
  ["fields[1].generate", notBoolean, (generate) => asSecondField({ generate })],
  ["fields[1].recipe", notObject, (recipe) => asSecondField({ recipe })],
  ["fields[1].recipe.length", notInteger, (length) => asSecondField({ recipe: { length } })],
  ["fields[1].recipe.characterSets", notList, (characterSets) => asSecondField({ recipe: { characterSets } })],
  ["fields[1].recipe.characterSets[1]", notWord, (set) => asSecondField({ recipe: { characterSets: ["DIGITS", set] } })],
  ["fields[1].recipe.excludeCharacters", notText, (excludeCharacters) => asSecondField({ recipe: { excludeCharacters } })],
  ["fields[1].value", [CANARY, "2026-02-30"], (value) => asSecondField({ type: "DATE", value })],
  ["fields[1].value", [CANARY, "202613"], (value) => asSecondField({ type: "MONTH_YEAR", value })],
  ["fields[2].id", [CANARY], (id) => ({ fields: [{ id: "first" }, { id }, { id }] })],
  ["sections[1].id", [CANARY], (id) => ({ sections: [{ id }, { id }] })],
  [
    "fields[1].purpose",
    ["NOTES"],
    (purpose) => ({
      fields: [
        { id: "a", purpose },
        { id: "b", purpose, value: CANARY },
      ],
    }),
  ],
  ["vault.id", [7, true, [CANARY], crypto.randomUUID()], (id) => ({ vault: { id } })],
  ["vault", notObject, (vault) => ({ vault })],
];

async function makeTestVault() {
  const { vault, items, call } = await freshVault();
  const item = { ...LOGIN, fields: [{ id: "f", value: "x" }], sections: [{ id: "s" }], tags: ["t"], urls: [{ href: "u" }] };
  const { id } = (await call("POST", items, { body: item })).body;
  return { vault, items, item: `${items}/${id}`, call };
}

/** Shared by the tests whose requests are refused and so change nothing. */
let unchanged: Awaited<ReturnType<typeof makeTestVault>>;

beforeAll(async () => {
  unchanged = await makeTestVault();
});

const summaryOf = ({ text, body }: Reply) => ({ body, leaks: text.includes(CANARY) });
const refusal = (place: string) => ({ body: { status: 400, message: expect.stringContaining(place) }, leaks: false });

const writeCount = async (vault: string, call: Client) => (await call("GET", `/v1/vaults/${vault}`)).body.contentVersion;

describe("a value of the wrong type in an Item", () => {
  it.each(ITEM)("is a 400 that names %s: %j", async (place, values, attributes) => {
    const { vault, items, item, call } = unchanged;
    for (const value of sample(values, 3)) {
      const body = { ...LOGIN, vault: { id: vault }, ...attributes(value) };
      expect(summaryOf(await call("POST", items, { body }))).toEqual(refusal(place));
      expect(summaryOf(await call("PUT", item, { body }))).toEqual(refusal(place));
      expect(summaryOf(await call("PATCH", item, { body: [{ op: "replace", path: "/", value: body }] }))).toEqual(refusal(place));
    }
    expect(await writeCount(vault, call)).toBe(1);
  });

  it.each([CANARY, 7, true, [CANARY], { [CANARY]: CANARY }, "LOGIN ", "ſERVER", "SSH-KEY", "__proto__"])(
    "is a 400 `Invalid item category` when it is the category: %j",
    async (category) => {
      const { vault, items, item, call } = unchanged;
      const body = { title: "x", vault: { id: vault }, category };
      for (const reply of [
        await call("POST", items, { body }),
        await call("PUT", item, { body }),
        await call("PATCH", item, { body: [{ op: "replace", path: "/", value: body }] }),
        await call("PATCH", item, { body: [{ op: "replace", path: "/category", value: category }] }),
      ]) {
        expect(reply.body).toEqual({ status: 400, message: "Invalid item category" });
      }
    },
  );
});

describe("a value of the wrong type in a PATCH", () => {
  it.each<readonly [path: string, values: readonly unknown[], op: string]>([
    ["/title", notText, "replace"],
    ["/favorite", notBoolean, "replace"],
    ["/tags", notList, "replace"],
    ["/tags/0", notText, "replace"],
    ["/urls", notList, "replace"],
    ["/urls/0", notObject, "replace"],
    ["/urls/0/href", notText, "replace"],
    ["/urls/0/label", notText, "replace"],
    ["/urls/0/primary", notBoolean, "replace"],
    ["/sections", notList, "replace"],
    ["/sections/s", notObject, "replace"],
    ["/sections/s/label", notText, "replace"],
    ["/fields", notList, "replace"],
    ["/fields", notObject, "add"],
    ["/fields/f", notObject, "replace"],
    ["/fields/f/type", notWord, "replace"],
    ["/fields/f/purpose", notWord, "replace"],
    ["/fields/f/label", notText, "replace"],
    ["/fields/f/value", notText, "replace"],
    ["/fields/f/section", notObject, "replace"],
    ["/fields/f/generate", notBoolean, "replace"],
    ["/fields/f/recipe", notObject, "replace"],
    ["/", notObject, "replace"],
  ])("is a 400 that names the index and path of the operation: %s", async (path, values, op) => {
    const { vault, item, call } = unchanged;
    for (const value of sample(values, 3)) {
      const valid = { op: "replace", path: "/title", value: "Other" };
      expect(summaryOf(await call("PATCH", item, { body: [valid, { op, path, value }] }))).toEqual(
        refusal(`operation 1 (${path}): `),
      );
    }
    expect(await writeCount(vault, call)).toBe(1);
  });

  it("is a 400 that names the attribute `path` of the operation", async () => {
    const { vault, item, call } = unchanged;
    for (const path of [7, true, null, undefined, [CANARY], { [CANARY]: CANARY }]) {
      const body = [
        { op: "replace", path: "/title", value: "Other" },
        { op: "add", path, value: CANARY },
      ];
      expect(summaryOf(await call("PATCH", item, { body }))).toEqual(refusal("operation 1: path: "));
    }
    expect(await writeCount(vault, call)).toBe(1);
  });

  it("is a 400 when `add` or `replace` has no value; `remove` needs none", async () => {
    const { item, call } = await makeTestVault();
    for (const op of ["add", "replace"])
      expect(summaryOf(await call("PATCH", item, { body: [{ op, path: "/title" }] }))).toEqual(refusal("operation 0"));
    expect((await call("PATCH", item, { body: [{ op: "remove", path: "/tags/0" }] })).body.tags).toEqual([]);
  });
});

/** A UUID without dashes and base32 in capitals are no forms of an id either. */
const NO_IDS = ["x", "", "*", "constructor", "3fa85f6457174562b3fc2c963f66afa6", "H6UF6ZCXC5CWFM74FSLD6ZVPUY"];
const NO_PERMISSIONS = [CANARY, "", "R", "RW", "wr", "rwx", "admin", 7, null, true, ["r"]];

describe("a value of the wrong type in the body of an admin route", () => {
  it.each<readonly [string, string, readonly unknown[], (value: unknown) => object]>([
    ["vaults", "", [[], CANARY], (body) => body as object],
    ["vaults", "name", [...notText, "", null, undefined], (name) => ({ name })],
    ["vaults", "description", notText, (description) => ({ name: "x", description })],
    ["tokens", "name", [...notText, "", null, undefined], (name) => ({ name, vaults: {} })],
    ["tokens", "vaults", [...notObject, [], null, undefined], (vaults) => ({ name: "x", vaults })],
    ["tokens", "vaults", NO_IDS, (id) => ({ name: "x", vaults: { [id as string]: "r" } })],
    ["tokens", "vaults", NO_PERMISSIONS, (one) => ({ name: "x", vaults: { [crypto.randomUUID()]: one } })],
    ["tokens", "dialect", [CANARY, "UUID", "base32", "", 7], (dialect) => ({ name: "x", vaults: {}, dialect })],
    ["tokens", "stale", [0, -1, 301, 1.5, "60", true], (stale) => ({ name: "x", vaults: {}, stale })],
    ["tokens", "stale", [1], (stale) => ({ name: "x", vaults: {}, stale, binding: true })],
    ["tokens", "binding: is not true or false", ["true", 1], (binding) => ({ name: "x", vaults: {}, binding })],
    ["vaults", "quota", [5, CANARY, []], (quota) => ({ name: "x", quota })],
    ["vaults", "quota.items", [-1, 1.5], (items) => ({ name: "x", quota: { items } })],
    ["vaults", "quota.bytes", ["5"], (bytes) => ({ name: "x", quota: { bytes } })],
    ["vaults", "quota.fileBytes", [2 ** 60], (fileBytes) => ({ name: "x", quota: { fileBytes } })],
    ["jobs", "kind", [CANARY, 1, null, undefined], (kind) => ({ kind })],
    ["jobs", "", [[]], (body) => body as object],
    ["tokens", "expiresIn", [CANARY, "60", 0, -1, 1.5, true], (expiresIn) => ({ name: "x", vaults: {}, expiresIn })],
  ])("is a 400 that names the attribute: %s, %s", async (route, place, values, body) => {
    for (const value of values)
      expect(summaryOf(await admin("POST", `/v1/admin/${route}`, { body: body(value) }))).toEqual(refusal(place));
  });
});

/** Queries that are malformed: a 400 that names the parameter (contract 4.3, 5.1, 5.11, 11.3, 13.9, 13.25, 14.15, 15.3, 15.6). */

const FILTER = "Unsupported request filter";
const NO_TERMS = ["title eq 'x'", 'title eq "x', 'title eq x"', "title eq x", '""', '"', 'title eq "x" and'];
const NO_ATTRIBUTES = ['name eq "x"', 'title gt "x"', 'tag co "x"', 'category eq "NOPE"', "favorite eq maybe"];
const VAULT_FILTERS = ['name co "x"', 'tag eq "x"', "name eq 'x'", 'id eq "x"', 'name eq "x" or name eq "y"'];
const encoded = (filters: readonly string[]) => filters.map((filter) => `filter=${encodeURIComponent(filter)}`);
const NO_LIMITS = ["0", "-1", "1001", "1.5", "x", "", "1e2"].map((limit) => `limit=${limit}`);
const NO_CURSOR = btoa('{"day":"2026-13-45","place":["",""]}').replaceAll("=", "");
const NO_TIMES = ["since=yesterday", "until=2020", "since=1960-01-01T00:00:00Z"];
const NO_EXPORTS = [...NO_TIMES, "vault=one", ...["e30", "-", NO_CURSOR].map((cursor) => `cursor=${cursor}`)];
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
  ["/v1/admin/activity/export", "", ["limit=0", ...NO_EXPORTS]],
  ["/v1/admin/backups/vaults", "after: ", ["after=x"]],
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
