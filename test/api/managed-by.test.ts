import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, makeVault } from "../support/service.ts";
import { deleteIssuers, makeIssuer } from "../support/workloads.ts";

/** The name of the file that has made something (contract 13.29). */

let vault: string;
let issuer: string;

beforeAll(async () => {
  vault = await makeVault();
  issuer = (await makeIssuer()).id;
});

afterAll(deleteIssuers);

const KINDS: readonly (readonly [string, () => string, () => object])[] = [
  ["tokens", () => "/v1/admin/tokens", () => ({ name: "managed", vaults: {} })],
  ["narrow tokens", () => "/v1/admin/tokens", () => ({ name: "managed", adminRead: true })],
  ["people", () => "/v1/admin/people", () => ({ email: `${crypto.randomUUID()}@example.com`, vaults: {} })],
  ["issuers", () => "/v1/admin/issuers", () => ({ name: "managed", issuer: `https://${crypto.randomUUID()}.example.com` })],
  ["rules", () => "/v1/admin/rules", () => ({ issuer, claims: { job: "deploy" }, vaults: {} })],
  ["webhooks", () => `/v1/admin/vaults/${vault}/webhooks`, () => ({ url: "https://example.com/" })],
];

describe.each(KINDS)("managedBy of %s", (_, pathOf, bodyOf) => {
  const make = (attributes: object, headers: Readonly<Record<string, string>> = {}) =>
    admin("POST", pathOf(), { body: { ...bodyOf(), ...attributes }, headers });
  const listed = async (id: string) => (await admin("GET", pathOf())).body.find((one: { id: string }) => one.id === id);

  it("is in the answer and in the list (13.29)", async () => {
    const { status, body } = await make({ managedBy: "platform" });
    expect([status, body.managedBy, (await listed(body.id)).managedBy]).toEqual([200, "platform", "platform"]);
  });

  it("is absent where none was given", async () => {
    const { body } = await make({});
    expect([body.managedBy, (await listed(body.id)).managedBy]).toEqual([undefined, undefined]);
  });

  it.each([
    ["an empty text", ""],
    ["a number", 1],
  ])("is refused as %s", async (_name, managedBy) => {
    expect((await make({ managedBy })).status).toBe(400);
  });

  it("is a part of the request that an Idempotency-Key repeats", async () => {
    const body = bodyOf();
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const replies = [
      await admin("POST", pathOf(), { headers, body: { ...body, managedBy: "platform" } }),
      await admin("POST", pathOf(), { headers, body: { ...body, managedBy: "other" } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 409]);
  });
});

it("managedBy of a person stays when the person is changed (13.29)", async () => {
  const body = { email: `${crypto.randomUUID()}@example.com`, vaults: {}, managedBy: "platform" };
  const { id } = (await admin("POST", "/v1/admin/people", { body })).body;
  const changed = await admin("PATCH", `/v1/admin/people/${id}`, { body: { vaults: { [vault]: "r" } } });
  expect(changed.body.managedBy).toBe("platform");
});
