import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { countingDatabase } from "../support/bindings.ts";
import { objectsOf, pattern } from "../support/files.ts";
import { type Client, client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** Who may do what with Files: every endpoint × permission × vault × Item × File, against the contract (1.4). */

interface Endpoint {
  readonly name: string;
  readonly method: string;
  readonly needs: "r" | "w" | "rw";
  readonly success: number;
  /** What a vault out of scope is. */
  readonly outside: 403 | 404;
  readonly namesFile: boolean;
  readonly path: (files: string, file: string) => string;
}

const list = (files: string) => files;
const upload = (files: string) => `${files}?name=f`;
const one = (files: string, file: string) => `${files}/${file}`;
const content = (files: string, file: string) => `${files}/${file}/content`;

const ENDPOINTS: readonly Endpoint[] = [
  { name: "GET files", method: "GET", needs: "r", success: 200, outside: 404, namesFile: false, path: list },
  { name: "GET File", method: "GET", needs: "r", success: 200, outside: 403, namesFile: true, path: one },
  { name: "GET content", method: "GET", needs: "r", success: 200, outside: 404, namesFile: true, path: content },
  { name: "POST File", method: "POST", needs: "w", success: 200, outside: 403, namesFile: false, path: upload },
  { name: "PUT content", method: "PUT", needs: "rw", success: 200, outside: 403, namesFile: true, path: content },
  { name: "DELETE File", method: "DELETE", needs: "w", success: 204, outside: 403, namesFile: true, path: one },
];

const PERMISSIONS = ["", "r", "w", "rw"] as const;
const PLACES = ["own", "other", "missing"] as const;
type Place = (typeof PLACES)[number];
type Case = { endpoint: Endpoint; permission: (typeof PERMISSIONS)[number]; vault: Place; item: Place; file: Place };

const CASES = ENDPOINTS.flatMap((endpoint) =>
  PERMISSIONS.flatMap((permission) =>
    PLACES.flatMap((vault) =>
      PLACES.flatMap((item) =>
        (endpoint.namesFile ? PLACES : PLACES.slice(0, 1)).map((file): Case => ({ endpoint, permission, vault, item, file })),
      ),
    ),
  ),
);

/** The contract. Out: the status, and the message of a refusal. */
function expected({ endpoint, permission, vault, item, file }: Case, ids: Record<string, string>): [number, string?] {
  const allowed = vault === "own" && permission.includes(endpoint.needs);
  if (!allowed && endpoint.outside === 404) return [404, `vault ${ids["vault"]} not found`];
  if (!allowed) return [403, `vault ${ids["vault"]} is not in scope`];
  if (item !== "own") return [404, `item ${ids["item"]} not found`];
  if (endpoint.namesFile && file !== "own") return [404, `file ${ids["file"]} not found`];
  return [endpoint.success];
}

const filesOf = (vault: string, item: string) => `/v1/vaults/${vault}/items/${item}/files`;

async function makeItem(vault: string): Promise<string> {
  const { token } = await makeToken({ [vault]: "w" });
  return (await client(token)("POST", `/v1/vaults/${vault}/items`, { body: LOGIN })).body.id;
}

/** Two vaults with an Item each; the first has an Item with a File, and a second Item, whose File is the `other` one. */
let vaults: Record<Place, string>;
let items: Record<Place, string>;
let ownFile: string;
let otherFile: string;
let owner: Client;
let clients: Record<(typeof PERMISSIONS)[number], Client>;

beforeAll(async () => {
  vaults = { own: await makeVault("Own"), other: await makeVault("Other"), missing: crypto.randomUUID() };
  items = { own: await makeItem(vaults.own), other: await makeItem(vaults.other), missing: crypto.randomUUID() };
  owner = client((await makeToken({ [vaults.own]: "rw", [vaults.other]: "rw" })).token);
  const sibling = await makeItem(vaults.own);
  otherFile = (await owner("POST", upload(filesOf(vaults.own, sibling)), { body: pattern(1) })).body.id;
  ownFile = await newFile();
  const tokenOf = async (permission: "r" | "w" | "rw") => client((await makeToken({ [vaults.own]: permission })).token);
  const none = client((await makeToken({})).token);
  clients = { "": none, r: await tokenOf("r"), w: await tokenOf("w"), rw: await tokenOf("rw") };
});

const newFile = async (): Promise<string> =>
  (await owner("POST", upload(filesOf(vaults.own, items.own)), { body: pattern(1) })).body.id;

const title = ({ endpoint: { name, namesFile }, permission, vault, item, file }: Case) =>
  `${name}, permission "${permission}", vault ${vault}, item ${item}${namesFile ? `, file ${file}` : ""}`;

describe("the authorization matrix of Files", () => {
  it.each(CASES.map((c) => [title(c), c] as const))("%s", async (_, c) => {
    const { method, path, namesFile } = c.endpoint;
    // A write that is to succeed gets a File of its own; all others share one, which must stay.
    const succeeds = expected(c, {})[0] < 400;
    const files = {
      own: namesFile && succeeds && method !== "GET" ? await newFile() : ownFile,
      other: otherFile,
      missing: crypto.randomUUID(),
    };
    const ids = { vault: vaults[c.vault], item: items[c.item], file: files[c.file] };
    const body = method === "GET" || method === "DELETE" ? undefined : pattern(2);
    const reply = await clients[c.permission](method, path(filesOf(ids.vault, ids.item), ids.file), { body });
    const [status, message] = expected(c, ids);
    const refusal = message === undefined ? undefined : { status, message };
    expect([reply.status, reply.status < 400 ? undefined : reply.body]).toEqual([status, refusal]);
  });

  it("left the Files that refused writes named as they were", async () => {
    const { body: file } = await owner("GET", one(filesOf(vaults.own, items.own), ownFile));
    expect([file.id, file.size]).toEqual([ownFile, 1]);
    expect(await objectsOf(vaults.own)).toEqual(
      expect.arrayContaining([ownFile, otherFile].map((id) => expect.stringContaining(id))),
    );
  });
});

describe("a vault that is not in the token", () => {
  it.each(ENDPOINTS)("is refused without any I/O: $name", async ({ method, path, outside }) => {
    const { count, db } = countingDatabase();
    const untouchable = new Proxy({} as any, {
      get: (_, name) => {
        throw new Error(`${String(name)} was asked for`);
      },
    });
    const body = method === "GET" || method === "DELETE" ? undefined : pattern(2);
    const request = { body, env: { DB: db, FILES: untouchable, COORDINATOR: untouchable } };
    const reply = await clients.rw(method, path(filesOf(vaults.other, items.other), otherFile), request);
    expect([reply.status, count.calls]).toEqual([outside, 0]);
  });
});

describe("a token that only writes", () => {
  it("reads nothing: PUT of a content does not tell it the name and the section of the File", async () => {
    const files = filesOf(vaults.own, items.own);
    const { body: file } = await owner("POST", `${files}?name=secret-name&section=secret-section`, { body: pattern(1) });
    const { text } = await clients.w("PUT", content(files, file.id), { body: pattern(2) });
    expect([text.includes("secret-name"), text.includes("secret-section")]).toEqual([false, false]);
  });
});

describe("a write that is refused", () => {
  it.each(ENDPOINTS.filter(({ needs }) => needs !== "r"))("leaves no trace: $name", async ({ method, path }) => {
    const file = await newFile();
    const state = async () => [(await owner("GET", `/v1/vaults/${vaults.own}`)).body, await objectsOf(vaults.own)];
    const before = await state();
    const body = method === "DELETE" ? undefined : pattern(2);
    for (const call of [clients.r, clients[""]]) {
      expect((await call(method, path(filesOf(vaults.own, items.own), file), { body })).status).toBe(403);
    }
    expect(await state()).toEqual(before);
    expect((await env.FILES.list({ prefix: `${vaults.own}/${file}/` })).objects.length).toBe(1);
  });
});
