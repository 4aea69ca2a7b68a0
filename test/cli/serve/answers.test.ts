import { describe, expect, inject, it } from "vitest";
import { OPERATIONS } from "../../../src/api/operations.ts";
import { FIELD_TYPE_NAMES, type FieldType } from "../../../src/model/field-types.ts";
import { makeToken, makeVault } from "../../sdk/support/vault.ts";
import { vaultOf } from "../support/login.ts";
import { type Got, get, startServe } from "../support/serve.ts";

/**
 * The answers of `serve` are those of the service: each read of the catalogue of operations, with filters and other parameters, in both
 * dialects, for Items with fields of every type.
 */

const SECRET = "gezdgnbvgy3tqojqgezdgnbvgy3tqojq"; // of RFC 6238 appendix B; with this period the code is the same until 2033
const VALUES: Readonly<Partial<Record<FieldType, string>>> = {
  OTP: `otpauth://totp/ACME:ada?secret=${SECRET}&digits=8&period=999999999`,
  DATE: "2024-02-29",
  MONTH_YEAR: "2031/07",
};
const TITLES = ["Database", 'a "quoted" word', "back\\slash", "Twin", "TWIN", "Straße", "x & y", 'salt" and tag eq "b', ""];
const UNUSED = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

type World = Awaited<ReturnType<typeof createWorld>>;

async function createWorld() {
  const { vault, send, create } = await vaultOf("Production");
  const [other, foreign] = [await makeVault("production two"), await makeVault("Foreign")];
  const section = { id: "s1" };
  const typed = FIELD_TYPE_NAMES.map((type) => ({
    type,
    label: `a ${type}`,
    value: VALUES[type] ?? `value of ${type}`,
    section,
  }));
  const full = await create({
    title: "Full",
    category: "DATABASE",
    favorite: true,
    tags: ["a", "b"],
    urls: [{ href: "https://example.com", label: "site", primary: true }],
    sections: [
      { id: "s1", label: "First" },
      { id: "s2", label: "first" },
    ],
    fields: [
      ...typed,
      { purpose: "USERNAME", value: "ada" },
      { purpose: "PASSWORD", value: "pass word" },
      { label: "Ä", value: "" },
    ],
  });
  const titled = await Promise.all(
    TITLES.map((title) => create({ title, tags: ["b"], fields: [{ purpose: "PASSWORD", value: title }] })),
  );
  const [archived, deleted] = [await create({ title: "Old" }), await create({ title: "Gone" })];
  await send("POST", `/items/${archived.id}/archive`);
  const files: { id: string; name: string }[] = [];
  for (const [query, bytes] of [
    ["name=ca.pem&section=s1", "a certificate\n"],
    ["name=bytes.bin", Uint8Array.from(Array(256).keys())],
    ["name=%C3%BCber.txt", ""],
    ["name=large.bin", new Uint8Array(150_000)],
  ] as const)
    files.push(await send("POST", `/items/${full.id}/files?${query}`, bytes));
  await send("DELETE", `/items/${deleted.id}`);
  return { vault, other, foreign, items: [full, ...titled], archived: archived.id, deleted: deleted.id, files };
}

interface Request {
  readonly operation: string;
  readonly path: string;
  readonly init?: RequestInit;
}

const placesOf = ({ vault, other, foreign, items, archived, deleted, files }: World): Readonly<Record<string, string[]>> => ({
  vault: [vault, vault.toUpperCase(), other, foreign, UNUSED, "x"],
  item: [...items.slice(0, 3).map(({ id }) => id), archived, deleted, UNUSED, "x"],
  file: [...files.map(({ id }) => id), UNUSED, "x"],
  version: ["1", "0"],
});

/** All paths of an operation, with each place in turn, the others being the first of their kind. */
function pathsOf(template: string, places: Readonly<Record<string, readonly string[]>>): string[] {
  const names = [...template.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const fill = (changed: string | undefined, value = "") =>
    template.replace(/:(\w+)/g, (_, name: string) => (name === changed ? value : places[name]![0]!));
  return [...new Set([fill(undefined), ...names.flatMap((name) => places[name]!.map((value) => fill(name, value)))])];
}

const FILTERS = [
  ...TITLES.map((title) => `title eq "${title}"`),
  ...TITLES.map((title) => `title eq "${title.replaceAll(/["\\]/g, String.raw`\$&`)}"`),
  'title eq "database"',
  'title co "a"',
  'title co ""',
  'tag eq "b"',
  'tag eq "b" and category eq "database"',
  'title eq "Database" and tag eq "b"',
  'title eq "Database" and tag eq "a"',
  "favorite eq true",
  'category eq "login"',
  'category eq "x"',
  "title eq 'single'",
  "",
  " ",
  'name eq "PRODUCTION"',
  'title eq "production two"',
  'name eq "none"',
];

const filtersFor = ({ items, archived, vault }: World): string[] => [
  ...FILTERS,
  `id eq "${items[0]!.id}" or id eq "${archived}" or id eq "${UNUSED}"`,
  `name eq "${vault}"`,
];

/** Parameters that no operation has yet, and one that is another operation's. */
const UNKNOWN = ["unknown=1", "view=full", "updated_after=2026-01-01", "unknown", "filter=&unknown=1", "wait=0"];

interface Variant {
  readonly query?: string;
  readonly init?: RequestInit;
}

const LISTS = `archived=true archived=false archived=T archived=x limit=2 limit=0 include=username cursor=${UNUSED} unknown=1`;

function variantsOf(operation: string, world: World): readonly Variant[] {
  const filters = filtersFor(world).map((filter) => ({ query: `filter=${encodeURIComponent(filter)}` }));
  const head = { init: { method: "HEAD" } };
  const conditional = ["*", '"1-0000000000000000"', "x"].map((tag) => ({ init: { headers: { "If-None-Match": tag } } }));
  const ranges = ["bytes=2-4", "bytes=900000-", "x"].map((range) => ({ init: { headers: { Range: range } } }));
  const inline = ["true", "false", "1", "F", "x"].map((value) => ({ query: `inline_files=${value}` }));
  const archived = filters.map(({ query }) => ({ query: `archived=true&${query}` }));
  const variants: Readonly<Record<string, readonly Variant[]>> = {
    listVaults: [...filters, head],
    listItems: [...filters, ...archived, ...LISTS.split(" ").map((query) => ({ query })), head],
    getItem: [...conditional, head],
    listFiles: inline,
    getFile: inline,
    getFileContent: [...conditional, head, ...ranges, { query: "version=1" }, { query: "version=x" }],
  };
  return [{}, ...(variants[operation] ?? [])];
}

function referencesOf({ vault, items, files, archived, foreign }: World): string[] {
  const full = items[0]!;
  const fields = FIELD_TYPE_NAMES.map((type) => `a ${type}`);
  return [
    ...fields.map((label) => `op://Production/Full/${label}`),
    ...fields.map((label) => `op://production/full/first/${label.toLowerCase()}?attribute=type`),
    `op://${vault}/${full.id}/a OTP?attribute=otp`,
    `op://${vault}/${full.id}/username?attribute=label`,
    "op://Production/Full/password?attribute=otp",
    "op://Production/STRASSE/password",
    "op://Production/Twin/password",
    `op://Production/${archived}/password`,
    "op://Production/Old/password",
    ...files.map(({ id }) => `op://Production/Full/${id}`),
    ...files.map(({ name }) => `op://Production/Full/${name}`),
    "op://Production/Full/s1/ca.pem",
    "op://Production/Full/ca.pem?attribute=type",
    "op://Production/Full/ca.pem?attribute=label",
    "op://Production/Full/none",
    "op://Production/None/x",
    "op://None/x/y",
    `op://${foreign}/x/y`,
    "op://production two/x/y",
    "op://malformed",
    "not a reference",
  ];
}

const post = (body: string, headers = {}): Request => ({
  operation: "resolveReferences",
  path: "/v1/resolve",
  init: { method: "POST", body, headers },
});

function resolvesOf(world: World): Request[] {
  const all = referencesOf(world);
  const lists = [...all.map((one) => [one]), all.slice(0, 20), all, []];
  const bodies = lists.map((references) => ({ references }));
  const tooMany = JSON.stringify({ references: Array(101).fill(all[0]) });
  const malformed = ["", "{}", "[]", '{"references":"x"}', '{"references":[1]}', tooMany];
  const texts = [...bodies.map((body) => JSON.stringify(body)), ...malformed, `\uFEFF${JSON.stringify(bodies[0])}`];
  return [...texts.map((text) => post(text)), post(texts[0]!, { "If-None-Match": "*" })];
}

const READS = Object.entries(OPERATIONS).filter(
  ([, { method, access, path }]) => method === "GET" && access.by === "token" && path.startsWith("/v1/"),
);

/** The reads of one operation: all of its paths, and the first of them with each query and header. */
function readsOf(operation: string, template: string, world: World): Request[] {
  const paths = pathsOf(template, placesOf(world)).map((path): Request => ({ operation, path }));
  const variants = variantsOf(operation, world).map(({ query, init = {} }): Request => {
    const { path } = paths[0]!;
    return { operation, path: query === undefined ? path : `${path}?${query}`, init };
  });
  return [...paths, ...variants];
}

const requestsOf = (world: World): Request[] => [
  ...READS.flatMap(([operation, { path }]) => readsOf(operation, path, world)),
  ...resolvesOf(world),
  { operation: "getItem", path: `//v1//vaults/${world.vault}/items/${world.items[0]!.id}/` },
  { operation: "getItem", path: `/v1/%76aults/${world.vault}/items/${world.items[0]!.id.replace("-", "%2D")}` },
  { operation: "none", path: `/v1/vaults/${world.vault}/nothing` },
  { operation: "none", path: `/v1/vaults/${world.vault}%2Fitems` },
  { operation: "none", path: `/v1/vaults/${world.vault}/items%2f${world.items[0]!.id}` },
  { operation: "none", path: `/v1/vaults/${world.vault}/items`, init: { method: "PURGE" } },
];

/** What differs between two answers to one request, or between two servers. */
const VOLATILE = new Set(
  "connection content-encoding content-length date item-vault-age keep-alive request-id transfer-encoding vary".split(" "),
);

/** The copy has no entity tags of lists: a client of both gets a 200 from the one that does not know its tag. */
const isTagOfList = (name: string, value: string): boolean => name === "etag" && /^"(\d+-){3}/.test(value);

/** What an answer has, with one origin in place of another: a link to the next page leads to the server that was asked. */
const comparable = ({ status, text, headers }: Got, from = "", to = "") => ({
  status,
  text,
  headers: Object.fromEntries(
    [...headers]
      .filter(([name, value]) => !VOLATILE.has(name) && !isTagOfList(name, value))
      .map(([name, value]) => [name, value.replace(from, to)]),
  ),
});

/** Their answers have what was done before: the requests of this test. */
const LOGS = new Set(["listActivity"]);
/** The operations that the copy answers. All others are passed on. */
const HELD = ["getFile", "getFileContent", "getItem", "getVault", "listFiles", "listItems", "listVaults", "resolveReferences"];

const world = await createWorld();

describe("the answers of serve", () => {
  it.each(["uuid", "connect"] as const)("are those of the service in the dialect %s", async (dialect) => {
    const { token } = await makeToken({ [world.vault]: "rw", [world.other]: "r" }, dialect);
    const served = await startServe({ token });
    const service = new URL(inject("url")).origin;
    const requests = requestsOf(world);
    expect(requests.length).toBeGreaterThan(200);
    const local = new Map<string, number>();
    const [ours, theirs]: object[][] = [[], []];
    const compare = async ({ operation, path, init }: Request) => {
      const [got, wanted] = await Promise.all([get(served.url + path, token, init), get(service + path, token, init)]);
      if (got.age !== undefined) local.set(operation, (local.get(operation) ?? 0) + 1);
      const request = { path, method: init?.method ?? "GET", body: init?.body };
      ours!.push({ ...request, ...comparable(got, served.url, service) });
      theirs!.push({ ...request, ...comparable(wanted) });
    };
    const queue = requests.filter(({ operation }) => !LOGS.has(operation)).values();
    const work = async () => {
      for (const request of queue) await compare(request);
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(ours).toEqual(theirs);
    expect([...local.keys()].toSorted()).toEqual(HELD);
    for (const count of local.values()) expect(count).toBeGreaterThan(1);
  });

  it("come from the service where the request has a parameter or an attribute that the copy does not know", async () => {
    const { token } = await makeToken({ [world.vault]: "rw" }, "uuid");
    const served = await startServe({ token });
    const paths = READS.filter(([operation]) => HELD.includes(operation)).map(
      ([, { path }]) => pathsOf(path, placesOf(world))[0]!,
    );
    const isLocal = async (path: string, init?: RequestInit) => {
      const { status, age } = await get(served.url + path, token, init);
      return [path, status, age !== undefined];
    };
    for (const path of paths) {
      expect(await isLocal(path)).toEqual([path, 200, true]);
      for (const query of UNKNOWN) expect(await isLocal(`${path}?${query}`)).toEqual([`${path}?${query}`, 200, false]);
    }
    const references = [`op://${world.vault}/${world.items[0]!.id}/username`];
    const resolve = (path: string, more: object) =>
      isLocal(path, { method: "POST", body: JSON.stringify({ references, ...more }) });
    expect(await resolve("/v1/resolve", {})).toEqual(["/v1/resolve", 200, true]);
    expect(await resolve("/v1/resolve", { unknown: 1 })).toEqual(["/v1/resolve", 400, false]); // the service refuses it
    expect(await resolve("/v1/resolve?unknown=1", {})).toEqual(["/v1/resolve?unknown=1", 200, false]);
  });
});
