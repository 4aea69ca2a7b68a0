import { beforeAll, describe, expect, it } from "vitest";
import { type Client, client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** A purpose that is empty is in no answer (contract 2.8), because clients in Rust and C# cannot read the Item then. */

const FIELD = { id: "plain", type: "STRING", label: "Plain", value: "v" };
const FIELDS = [
  { ...FIELD, purpose: "" },
  { purpose: "PASSWORD", value: "p" },
];
const PATCH = [
  { op: "add", path: "/fields/plain/purpose", value: "USERNAME" },
  { op: "replace", path: "/fields/plain/purpose", value: "" },
];

/** Each answer that has an Item: the request, after an Item of two versions was made (`deleted`: and deleted). */
const ANSWERS: readonly (readonly [string, string, { readonly body?: unknown; readonly deleted?: boolean }])[] = [
  ["GET", "items/{i}", {}],
  ["POST", "items", { body: { ...LOGIN, fields: FIELDS } }],
  ["PUT", "items/{i}", { body: { ...LOGIN, vault: { id: "production" }, fields: FIELDS } }],
  ["PATCH", "items/{i}", { body: PATCH }],
  ["POST", "items/{i}/archive", {}],
  ["POST", "items/{i}/unarchive", {}],
  ["GET", "items/{i}/versions/1", {}],
  ["POST", "items/{i}/versions/1/restore", {}],
  ["GET", "deleted-items/{i}", { deleted: true }],
  ["POST", "deleted-items/{i}/restore", { deleted: true }],
];

describe.each(["uuid", "connect"] as const)("in the dialect %s an empty purpose", (dialect) => {
  let vault: string;
  let call: Client;
  beforeAll(async () => {
    vault = await makeVault();
    call = client((await makeToken({ [vault]: "rwd" }, { dialect })).token);
  });

  it.each(ANSWERS)("is not in the answer of %s …/%s", async (method, path, { body, deleted = false }) => {
    const made = await call("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, fields: FIELDS } });
    const item = `/v1/vaults/${vault}/items/${made.body.id}`;
    await call("PATCH", item, { body: [{ op: "replace", path: "/title", value: "Second" }] });
    if (deleted) await call("DELETE", item);
    const answer = await call(method, `/v1/vaults/${vault}/${path.replace("{i}", made.body.id)}`, { body });
    expect(answer.status).toBe(200);
    expect(answer.body.fields).toMatchObject([FIELD, { purpose: "PASSWORD" }]);
    expect(answer.body.fields[0]).not.toHaveProperty("purpose");
  });
});
