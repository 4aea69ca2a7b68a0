import { beforeAll, describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { type Client, client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/**
 * Every answer with an Item has its ids in the dialect of the token (contract 3.1), the name of its vault (2.23), and no empty purpose (contract
 * 2.8), because clients in Rust and C# cannot read the Item then.
 */

const FIELD = { id: "plain", type: "STRING", label: "Plain", value: "v" };
const FIELDS = [
  { ...FIELD, purpose: "" },
  { purpose: "PASSWORD", value: "p" },
];
const PATCH = [
  { op: "add", path: "/fields/plain/purpose", value: "USERNAME" },
  { op: "replace", path: "/fields/plain/purpose", value: "" },
];

/** Each answer: the request, after an Item of two versions was made (`deleted`: and deleted). A list has summaries, without fields. */
const ANSWERS: readonly (readonly [string, string, { readonly body?: unknown; readonly deleted?: boolean }])[] = [
  ["GET", "items", {}],
  ["GET", "items/{i}", {}],
  ["POST", "items", { body: { ...LOGIN, fields: FIELDS } }],
  ["PUT", "items/{i}", { body: { ...LOGIN, vault: { id: "production" }, fields: FIELDS } }],
  ["PATCH", "items/{i}", { body: PATCH }],
  ["PATCH", "items/{i}", { body: [] }],
  ["POST", "items/{i}/archive", {}],
  ["POST", "items/{i}/unarchive", {}],
  ["GET", "items/{i}/versions/1", {}],
  ["POST", "items/{i}/versions/1/restore", {}],
  ["GET", "deleted-items", { deleted: true }],
  ["GET", "deleted-items/{i}", { deleted: true }],
  ["POST", "deleted-items/{i}/restore", { deleted: true }],
];

const FORM = { uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, connect: /^[a-z2-7]{26}$/ };

describe.each(["uuid", "connect"] as const)("in the dialect %s", (dialect) => {
  let vault: string;
  let writer: string;
  let call: Client;
  beforeAll(async () => {
    vault = await makeVault("Named");
    const { id, token } = await makeToken({ [vault]: "rwd" }, { dialect });
    writer = writeId(id, dialect);
    call = client(token);
  });

  it.each(ANSWERS)("the answer of %s …/%s", async (method, path, { body, deleted = false }) => {
    const made = await call("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, fields: FIELDS } });
    const { id } = made.body;
    const item = `/v1/vaults/${vault}/items/${id}`;
    await call("PATCH", item, { body: [{ op: "replace", path: "/title", value: "Second" }] });
    if (deleted) await call("DELETE", item);
    const answer = await call(method, `/v1/vaults/${vault}/${path.replace("{i}", id)}`, { body });
    const isList = method === "GET" && path.endsWith("items");
    const shown = isList ? answer.body.find((one: { id: string }) => one.id === id) : answer.body;
    expect(answer.status).toBe(200);
    expect([shown.id, writer]).toEqual([expect.stringMatching(FORM[dialect]), expect.stringMatching(FORM[dialect])]);
    expect([shown.id === id, shown.lastEditedBy]).toEqual([method !== "POST" || path !== "items", writer]);
    expect(shown.vault).toEqual({ id: writeId(vault, dialect), name: "Named" });
    const fields = shown.fields ?? [FIELD, { purpose: "PASSWORD" }];
    expect(fields).toMatchObject([FIELD, { purpose: "PASSWORD" }]);
    expect(fields[0]).not.toHaveProperty("purpose");
  });
});
