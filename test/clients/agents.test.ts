import { beforeAll, describe, expect, it } from "vitest";
import { admin, makeToken } from "../support/service.ts";
import { goTitle } from "./encodings.ts";
import { ITEM, throughGo, VAULT } from "./go-types.ts";
import { connectVault, goHeaders, requester, type SendRequest } from "./replay.ts";

/**
 * Programs that hold secrets for agents and deployments (docs/agents.md), each with a token for one Item: the requests of a secret, in their order.
 *
 * Read: ironsh/iron-proxy internal/transform/secrets/op_connect_resolver.go (799e8cd), whose fork is paradigmxyz/iron-proxy; kimdre/doco-cd
 * internal/secretprovider/1password/client_connect.go (07ca615); n8n-io/n8n external-secrets.ee/providers/one-password.ts (06c6ac0). The first two
 * call connect-sdk-go, the third @1password/connect, which test/sdk/ runs.
 */

const OTP = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const VAULT_NAME = "Agents & bots";

let vault: string;
/** The ids of Items by their titles. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  const fresh = await connectVault(VAULT_NAME);
  vault = fresh.vault;
  for (const title of ["Mail API", "Bank API"]) {
    const fields = [
      { label: "credential", type: "CONCEALED", value: `the key of ${title}` },
      { label: "code", type: "OTP", value: OTP },
    ];
    ids[title] = (await fresh.call("POST", fresh.items, { body: { title, category: "API_CREDENTIAL", fields } })).body.id;
  }
});

const narrowToken = () => makeToken({ [vault]: { permissions: "r", items: [ids["Mail API"]!] } }, { dialect: "connect" });

/** Returns an Item with its fields, as `GetItem` of connect-sdk-go does, or the text of its error. */
async function goItem(request: SendRequest, title: string): Promise<any> {
  const { body: found } = await request("GET", `/v1/vaults/${vault}/items?${goTitle(title)}`);
  if (found.length !== 1) return `Found ${found.length} item(s)`;
  return throughGo(ITEM, (await request("GET", `/v1/vaults/${vault}/items/${found[0].id}`)).body);
}

/** Asks for the vault by its title, then for the Item by its title. */
async function readByTitles(request: SendRequest, title: string): Promise<any> {
  const { body: vaults } = await request("GET", `/v1/vaults?${goTitle(VAULT_NAME)}`);
  expect(vaults.map((one: unknown) => throughGo(VAULT, one).id)).toEqual([vault]);
  return goItem(request, title);
}

/** Reads all Items of all vaults, as n8n does at each refresh. */
async function readAll(request: SendRequest, title: string): Promise<any> {
  const items: any[] = [];
  for (const { id } of (await request("GET", "/v1/vaults")).body)
    for (const item of (await request("GET", `/v1/vaults/${id}/items`)).body)
      items.push((await request("GET", `/v1/vaults/${id}/items/${item.id}`)).body);
  expect(items).toHaveLength(1);
  return items.find((item) => item.title === title) ?? `Found 0 item(s)`;
}

const PROGRAMS = {
  "iron-proxy": [goHeaders("iron-proxy/0.47.0"), readByTitles],
  "doco-cd": [goHeaders("doco-cd/0.80.0"), readByTitles],
  "n8n's external secrets": [{ Accept: "application/json, text/plain, */*", "User-Agent": "axios/1.7.9" }, readAll],
} as const;

describe.each(Object.entries(PROGRAMS))("%s, with a token for one Item,", (_, [headers, read]) => {
  it("reads the value and the current code of that Item", async () => {
    const { fields } = await read(requester(headers, (await narrowToken()).token), "Mail API");
    expect(fields).toMatchObject([
      { label: "credential", value: "the key of Mail API" },
      { totp: expect.stringMatching(/^\d{6}$/) },
    ]);
  });

  it("finds no other Item of the vault", async () => {
    expect(await read(requester(headers, (await narrowToken()).token), "Bank API")).toBe("Found 0 item(s)");
  });

  it("is refused by the next request after the token was revoked, with an error that it parses", async () => {
    const { id, token } = await narrowToken();
    const request = requester(headers, token);
    await read(request, "Mail API");
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    for (const path of ["/v1/vaults", `/v1/vaults/${vault}/items/${ids["Mail API"]}`])
      expect(await request("GET", path)).toMatchObject({ status: 401, body: { status: 401, message: expect.any(String) } });
  });
});

it("iron-proxy and doco-cd may name the vault and the Item by their ids", async () => {
  const { token } = await narrowToken();
  const request = requester(goHeaders("iron-proxy/0.47.0"), token);
  expect(throughGo(VAULT, (await request("GET", `/v1/vaults/${vault}`)).body)).toMatchObject({ id: vault });
  const { body } = await request("GET", `/v1/vaults/${vault}/items/${ids["Mail API"]}`);
  expect(throughGo(ITEM, body).fields).toMatchObject([{ value: "the key of Mail API" }, {}]);
});
