/** The demo: a Vault with one Login that has a File, and a token for the Vault. It is created through the API. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** The process id of `npm start`, and the address of its service. A killed process leaves the file. */
export const ADDRESS = ".wrangler/address";
/** The demo of an earlier start. */
export const DEMO = ".wrangler/demo.json";

export interface Demo {
  readonly vault: string;
  readonly item: string;
  readonly file: string;
  readonly token: string;
}

/** Returns the address of the service while `npm start` runs it. */
export function loadAddress(): string | undefined {
  const [pid, address] = existsSync(ADDRESS) ? readFileSync(ADDRESS, "utf8").split(" ") : [];
  try {
    process.kill(Number(pid), 0); // throws if there is no such process
    return address;
  } catch {
    return undefined;
  }
}

/**
 * Returns the demo of an earlier start if its token can still read its File. Otherwise revokes that token and makes a new Login and token, in the
 * Vault of the earlier demo if that exists. The API returns a token only once, so the demo is stored in the file `path`, beside the
 * local database. Throws when a request fails.
 */
export async function createDemo(base: string, adminToken: string, path: string): Promise<Demo> {
  const stored = loadDemo(path);
  if (stored && (await canRead(base, `/v1/vaults/${stored.vault}/items/${stored.item}/files/${stored.file}`, stored.token)))
    return stored;
  if (stored) await revoke(base, stored.token, adminToken);
  const vaults = (await send(base, "GET", "/v1/admin/vaults", adminToken)) as { id: string }[];
  const existing = vaults.find(({ id }) => id === stored?.vault);
  const vault = existing?.id ?? (await post(base, "/v1/admin/vaults", adminToken, { name: "Demo" })).id;
  const { token } = await post(base, "/v1/admin/tokens", adminToken, { name: "demo", vaults: { [vault]: "rw" } });
  const item = (await post(base, `/v1/vaults/${vault}/items`, token, LOGIN)).id;
  const file = (await post(base, `/v1/vaults/${vault}/items/${item}/files?name=hello.txt`, token, "Hello from R2, sealed.\n")).id;
  const demo = { vault, item, file, token };
  writeFileSync(path, JSON.stringify(demo), { mode: 0o600 });
  return demo;
}

/** The Login: its title, and its version, which a change of it overwrites. */
export async function loadLogin(base: string, { vault, item, token }: Demo): Promise<{ title: string; version: number }> {
  return (await send(base, "GET", `/v1/vaults/${vault}/items/${item}`, token)) as { title: string; version: number };
}

/** A link that signs in to the console, as a token, if there is one, and as the admin. It works once (contract 24.9). */
export async function createSignInLink(base: string, adminToken: string, token?: string): Promise<string> {
  const codes = [
    ...(token === undefined ? [] : [(await send(base, "POST", "/v1/sign-in-codes", token)) as { code: string }]),
    (await send(base, "POST", "/v1/admin/sign-in-codes", adminToken)) as { code: string },
  ];
  return `${base}/console/#sign-in=${codes.map(({ code }) => code).join(".")}`;
}

const LOGIN = {
  title: "Database",
  category: "LOGIN",
  urls: [{ href: "https://db.example.com", primary: true }],
  fields: [
    { purpose: "USERNAME", value: "ada" },
    { purpose: "PASSWORD", generate: true, recipe: { length: 32 } },
  ],
};

/** Returns the demo of an earlier start; `undefined` when the file is missing or damaged. */
export function loadDemo(path: string): Demo | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const demo = JSON.parse(readFileSync(path, "utf8")) as Partial<Demo> | null;
    return demo?.vault && demo.item && demo.file && demo.token ? (demo as Demo) : undefined;
  } catch {
    return undefined;
  }
}

async function canRead(base: string, path: string, token: string): Promise<boolean> {
  return (await fetch(base + path, { headers: { Authorization: `Bearer ${token}` } })).ok;
}

/** Revokes the token of an earlier demo, unless it has ended. */
async function revoke(base: string, token: string, adminToken: string): Promise<void> {
  const own = await fetch(`${base}/v1/token`, { headers: { Authorization: `Bearer ${token}` } });
  if (!own.ok) return;
  const { id } = (await own.json()) as { id: string };
  const answer = await fetch(`${base}/v1/admin/tokens/${id}`, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${adminToken}` },
  });
  if (!answer.ok) throw new Error(`The token of the earlier demo could not be revoked: ${answer.status}`);
}

const post = (base: string, path: string, token: string, body: object | string) =>
  send(base, "POST", path, token, typeof body === "string" ? body : JSON.stringify(body)) as Promise<{
    id: string;
    token: string;
  }>;

/** Sends a request. Returns the JSON of the response. Throws with the status and body of an error response. */
async function send(base: string, method: string, path: string, token: string, body?: string): Promise<unknown> {
  const response = await fetch(base + path, { method, body, headers: { Authorization: `Bearer ${token}` } });
  if (response.ok) return response.json();
  const health = response.status === 503 ? `\n/health: ${await (await fetch(`${base}/health`)).text()}` : "";
  throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}${health}`);
}
