/** The service and its floors on a real port, and the vaults that are made before anything is measured. */
import { randomBytes } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { createTestHarness } from "wrangler";
import { aim, ask } from "./load.ts";

const ADMIN_TOKEN = randomBytes(16).toString("hex");
const ROOT_KEYS = JSON.stringify({ active: "k1", keys: { k1: randomBytes(32).toString("base64") } });
const server = createTestHarness({ workers: [{ configPath: "bench/wrangler.toml", secrets: { ADMIN_TOKEN, ROOT_KEYS } }] });

const TABLE = "/bench/table";

/**
 * Starts the server and makes the tables. The address that wrangler gives is that of a proxy, which costs five times what
 * a Worker does; wrangler's own requests go past it, and show where the Worker is.
 */
export async function start(): Promise<void> {
  await server.listen();
  const direct = new Promise<URL>((resolve) => {
    subscribe("undici:request:create", (event) => {
      const { request } = event as { request: { origin: string; path: string } };
      if (request.path === TABLE) resolve(new URL(request.origin));
    });
  });
  await server.getWorker().applyD1Migrations("DB");
  await server.getWorker().fetch(TABLE);
  aim(await direct);
}

export const stop = (): Promise<void> => server.close();

export interface Vault {
  readonly id: string;
  readonly token: string;
  /** The path of its Items. */
  readonly items: string;
  /** The path of one of them, and those of up to 1,000. */
  readonly item: string;
  readonly some: readonly string[];
  /** The same Item for the floors: `vault=…&item=…`. */
  readonly row: string;
}

const ITEMS_AT_ONCE = 1_000;

/** A vault of so many Items, `Item 0` and so on, and a token that reads and writes it and nothing else. */
export async function makeVault(size: number): Promise<Vault> {
  const { id } = await admin("vaults", { name: `Of ${size}` });
  const { token } = await admin("tokens", { name: "bench", vaults: { [id]: "rw" } });
  let ids: string[] = [];
  for (let from = 0; from < size; from += ITEMS_AT_ONCE) {
    const to = Math.min(size, from + ITEMS_AT_ONCE);
    ids = await ask({ method: "POST", path: `/bench/items?vault=${id}&from=${from}&to=${to}` });
  }
  const items = `/v1/vaults/${id}/items`;
  const some = ids.map((item) => `${items}/${item}`);
  return { id, token, items, item: some[0]!, some, row: `vault=${id}&item=${ids[0]}` };
}

const admin = (path: string, body: object) =>
  ask({ method: "POST", path: `/v1/admin/${path}`, token: ADMIN_TOKEN, body: JSON.stringify(body) });

export interface File {
  readonly vault: Vault;
  /** The path of its content. */
  readonly content: string;
  /** The key of its object, for the floors. */
  readonly key: string;
}

/** A File of so many bytes. */
export async function makeFile(vault: Vault, size: number): Promise<File> {
  const { id } = await ask(upload(vault, size));
  const key = await ask({ path: `/bench/key?prefix=${vault.id}/${id}/` });
  return { vault, content: `${vault.item}/files/${id}/content`, key: encodeURIComponent(key) };
}

export const upload = ({ item, token }: Vault, size: number) =>
  ({ method: "POST", path: `${item}/files?name=f${size}`, token, body: randomBytes(size) }) as const;
