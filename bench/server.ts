/** The server of the benchmark, and the vaults and Files that the measurements use. */
import { randomBytes } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { createTestHarness } from "wrangler";
import { fetchJson, setServer } from "./load.ts";

const ADMIN_TOKEN = randomBytes(16).toString("hex");
const METRICS_TOKEN = randomBytes(16).toString("hex");
const ROOT_KEYS = JSON.stringify({ active: "k1", keys: { k1: randomBytes(32).toString("base64") } });
/** The secrets of the service, by their names. */
export const SECRETS = { ADMIN_TOKEN, ROOT_KEYS, METRICS_TOKEN };
export const CONFIG_PATH = "bench/wrangler.toml";
const server = createTestHarness({ workers: [{ configPath: CONFIG_PATH, secrets: SECRETS }] });

/** The route that creates the tables of the baselines. */
export const TABLE_PATH = "/bench/table";

/**
 * Starts the server and creates the tables. Requests are sent to the port of workerd: the address that wrangler reports is
 * that of a proxy, which uses five times the CPU of the Worker. wrangler does not report the port of workerd, so it is
 * taken from a request that wrangler itself sends there.
 */
export async function startServer(): Promise<void> {
  await server.listen();
  const origin = new Promise<URL>((resolve) => {
    subscribe("undici:request:create", (event) => {
      const { request } = event as { request: { origin: string; path: string } };
      if (request.path === TABLE_PATH) resolve(new URL(request.origin));
    });
  });
  await server.getWorker().applyD1Migrations("DB");
  await server.getWorker().fetch(TABLE_PATH);
  setServer(await origin);
}

export const stopServer = (): Promise<void> => server.close();

export interface Vault {
  readonly id: string;
  readonly token: string;
  /** The path of the list of its Items. */
  readonly items: string;
  /** The path of one Item. */
  readonly item: string;
  /** The paths of up to 1,000 Items. `item` is the first. */
  readonly itemPaths: readonly string[];
  /** The query that selects the same Item in a baseline: `vault=…&item=…`. */
  readonly baselineQuery: string;
}

const ITEMS_PER_REQUEST = 1_000;

/** Creates a vault with the Items `Item 0` to `Item <size - 1>`, and a token that reads and writes this vault only. */
export async function createVault(size: number): Promise<Vault> {
  const { id } = await postAdmin("vaults", { name: `Vault of ${size} Items` });
  const { token } = await postAdmin("tokens", { name: "bench", vaults: { [id]: "rw" } });
  let ids: string[] = [];
  for (let from = 0; from < size; from += ITEMS_PER_REQUEST) {
    const to = Math.min(size, from + ITEMS_PER_REQUEST);
    ids = await fetchJson({ method: "POST", path: `/bench/items?vault=${id}&from=${from}&to=${to}` });
  }
  const items = `/v1/vaults/${id}/items`;
  const itemPaths = ids.map((item) => `${items}/${item}`);
  return { id, token, items, item: itemPaths[0]!, itemPaths, baselineQuery: `vault=${id}&item=${ids[0]}` };
}

const postAdmin = (path: string, body: object) =>
  fetchJson({ method: "POST", path: `/v1/admin/${path}`, token: ADMIN_TOKEN, body: JSON.stringify(body) });

export interface File {
  readonly vault: Vault;
  /** The path of its content. */
  readonly content: string;
  /** The R2 key of its object, encoded for a query, which the baselines read. */
  readonly key: string;
}

/** Uploads a File of `size` random bytes to the first Item of a vault. */
export async function createFile(vault: Vault, size: number): Promise<File> {
  const { id } = await fetchJson(uploadFile(vault, size));
  const key = await fetchJson({ path: `/bench/key?prefix=${vault.id}/${id}/` });
  return { vault, content: `${vault.item}/files/${id}/content`, key: encodeURIComponent(key) };
}

export const uploadFile = ({ item, token }: Vault, size: number) =>
  ({ method: "POST", path: `${item}/files?name=f${size}`, token, body: randomBytes(size) }) as const;
