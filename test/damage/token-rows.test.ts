import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { client, LOGIN, makeToken, makeVault } from "../support/service.ts";
import { CASES, damage, type Row } from "./support/rows.ts";

/** A token whose row is damaged is refused as every other one, or works (contract 8.3). */

let vault: string;

beforeAll(async () => {
  vault = await makeVault();
});

const REQUESTS = (items: string) =>
  [
    ["GET", "/v1/token"],
    ["GET", "/v1/vaults"],
    ["GET", "/v1/activity"],
    ["GET", items],
    ["POST", items],
  ] as const;

it.each(CASES.filter(({ table }) => table === "tokens").map((one) => [one.column, one.fault, one] as const))(
  "every request with a token is answered, or every one is 401: %s %s",
  async (_column, _fault, one) => {
    const { id, token } = await makeToken({ [vault]: "rw" });
    const row = (await env.DB.prepare("SELECT * FROM tokens WHERE id = ?").bind(id).first<Row>())!;
    await damage(one, row);
    const call = client(token);
    const kinds = new Set<string>();
    for (const [method, path] of REQUESTS(`/v1/vaults/${vault}/items`)) {
      const { status, headers } = await call(method, path, method === "POST" ? { body: LOGIN } : {});
      kinds.add(status === 200 ? "answered" : `${status} ${headers.get("Item-Vault-Error")}`);
    }
    expect([["answered"], ["401 unauthorized"]]).toContainEqual([...kinds]);
  },
);
