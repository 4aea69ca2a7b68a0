/** The demo: a Vault with one Login that has a file, and a token for it, made over the real API. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

export interface Demo {
  readonly vault: string;
  readonly item: string;
  readonly file: string;
  readonly token: string;
}

/**
 * The demo of an earlier start when its token still reads its file, else a new one, in the same Vault if that is there.
 * The token is shown once by the API, so it is kept in `path`, which is part of the local state and goes with it.
 */
export async function createDemo(base: string, adminToken: string, path: string): Promise<Demo> {
  const known = remembered(path);
  if (known && (await found(base, `/v1/vaults/${known.vault}/items/${known.item}/files/${known.file}`, known.token)))
    return known;
  const vaults = (await ask(base, "GET", "/v1/admin/vaults", adminToken)) as { id: string }[];
  const kept = vaults.find(({ id }) => id === known?.vault);
  const vault = kept?.id ?? (await post(base, "/v1/admin/vaults", adminToken, { name: "Demo" })).id;
  const { token } = await post(base, "/v1/admin/tokens", adminToken, { name: "demo", vaults: { [vault]: "rw" } });
  const item = (await post(base, `/v1/vaults/${vault}/items`, token, LOGIN)).id;
  const file = (await post(base, `/v1/vaults/${vault}/items/${item}/files?name=hello.txt`, token, "Hello from R2, sealed.\n")).id;
  const demo = { vault, item, file, token };
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

/** What an earlier start left; nothing when the file is missing or damaged. */
function remembered(path: string): Demo | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const demo = JSON.parse(readFileSync(path, "utf8")) as Partial<Demo> | null;
    return demo?.vault && demo.item && demo.file && demo.token ? (demo as Demo) : undefined;
  } catch {
    return undefined;
  }
}

async function found(base: string, path: string, token: string): Promise<boolean> {
  return (await fetch(base + path, { headers: { Authorization: `Bearer ${token}` } })).ok;
}

const post = (base: string, path: string, token: string, body: object | string) =>
  ask(base, "POST", path, token, typeof body === "string" ? body : JSON.stringify(body)) as Promise<{
    id: string;
    token: string;
  }>;

/** Sends a request and reads its JSON. Throws with the service's own words when it refuses. */
async function ask(base: string, method: string, path: string, token: string, body?: string): Promise<unknown> {
  const response = await fetch(base + path, { method, body, headers: { Authorization: `Bearer ${token}` } });
  if (response.ok) return response.json();
  const health = response.status === 503 ? `\n/health: ${await (await fetch(`${base}/health`)).text()}` : "";
  throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}${health}`);
}
