/** The demo: a Vault with one Login, and a token for it, made over the real API. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

export interface Demo {
  readonly vault: string;
  readonly item: string;
  readonly token: string;
}

/**
 * The demo of an earlier start when its token still reads its item, else a new one. The token is shown once by the API,
 * so it is kept in `path`, which is part of the local state and goes with it.
 */
export async function createDemo(base: string, adminToken: string, path: string): Promise<Demo> {
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Demo) : undefined;
  if (known && (await reads(base, known))) return known;
  const vault =
    known && (await exists(base, adminToken, known.vault))
      ? known.vault
      : (await post(base, "/v1/admin/vaults", adminToken, { name: "Demo" })).id;
  const { token } = await post(base, "/v1/admin/tokens", adminToken, { name: "demo", vaults: { [vault]: "rw" } });
  const demo = { vault, token, item: (await post(base, `/v1/vaults/${vault}/items`, token, LOGIN)).id };
  writeFileSync(path, JSON.stringify(demo), { mode: 0o600 });
  return demo;
}

const LOGIN = {
  title: "Database of the demo",
  category: "LOGIN",
  urls: [{ href: "https://db.example.com", primary: true }],
  fields: [
    { purpose: "USERNAME", value: "ada" },
    { purpose: "PASSWORD", generate: true, recipe: { length: 32 } },
  ],
};

async function reads(base: string, { vault, item, token }: Demo): Promise<boolean> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${base}/v1/vaults/${vault}/items/${item}`, { headers })).ok;
}

async function exists(base: string, adminToken: string, vault: string): Promise<boolean> {
  const response = await fetch(`${base}/v1/admin/vaults`, { headers: { Authorization: `Bearer ${adminToken}` } });
  return ((await response.json()) as { id: string }[]).some(({ id }) => id === vault);
}

async function post(base: string, path: string, token: string, body: object): Promise<{ id: string; token: string }> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { id: string; token: string };
}
