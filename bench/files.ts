/**
 * Downloads beside their floors, in one run: medians of the ratios of interleaved rounds.
 * `npm run bench` prints them and switches off local tracing, which costs more than the Worker; docs/performance.md keeps them.
 */
import { randomBytes } from "node:crypto";
import { Agent, get } from "node:http";
import { createTestHarness } from "wrangler";

const MIB = 1024 * 1024;
const CLIENTS = 4;
const ROUNDS = 15;
const ROUND_MS = 400;

const ADMIN_TOKEN = randomBytes(16).toString("hex");
const ROOT_KEYS = JSON.stringify({ active: "k1", keys: { k1: randomBytes(32).toString("base64") } });
const server = createTestHarness({ workers: [{ configPath: "bench/wrangler.toml", secrets: { ADMIN_TOKEN, ROOT_KEYS } }] });
const { url } = await server.listen();
const base = url.toString().replace(/\/$/, "");

const request = async (method: string, path: string, token: string, body?: string | Uint8Array): Promise<Response> => {
  const response = await fetch(base + path, {
    method,
    body,
    headers: { Authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
};
const json = async (method: string, path: string, token: string, body: object) =>
  (await (await request(method, path, token, JSON.stringify(body))).json()) as { id: string; token: string };

await request("GET", "/floor/schema", "");
const vault = await json("POST", "/v1/admin/vaults", ADMIN_TOKEN, { name: "Bench" });
const { token } = await json("POST", "/v1/admin/tokens", ADMIN_TOKEN, { name: "bench", vaults: { [vault.id]: "rw" } });
const items = `/v1/vaults/${vault.id}/items`;
const item = await json("POST", items, token, { title: "Files", category: "DOCUMENT" });

const agent = new Agent({ keepAlive: true });
const headers = { Authorization: `Bearer ${token}` };

/** Downloads and counts. (fetch would spend more on a download than the service does.) */
const download = (path: string) =>
  new Promise<number>((resolve, reject) => {
    get(base + path, { agent, headers }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => (bytes += chunk.length));
      response.on("end", () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${path}: ${response.statusCode}`)),
      );
      response.on("error", reject);
    }).on("error", reject);
  });

/** Bytes a millisecond that all clients together receive within a round. */
async function throughput(path: string): Promise<number> {
  let bytes = 0;
  const start = performance.now();
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (performance.now() - start < ROUND_MS) bytes += await download(path);
  });
  await Promise.all(clients);
  return bytes / (performance.now() - start);
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

for (const size of [1, 10]) {
  const uploaded = await request("POST", `${items}/${item.id}/files?name=f${size}`, token, randomBytes(size * MIB));
  const file = (await uploaded.json()) as { id: string };
  const key = encodeURIComponent(await (await request("GET", `/floor/key?prefix=${vault.id}/${file.id}/`, token)).text());
  const paths = [`${items}/${item.id}/files/${file.id}/content`, `/floor/pass?key=${key}`, `/floor/pieces?key=${key}`];
  for (const path of paths) await throughput(path);
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const figures: number[] = [];
    for (const path of paths) figures.push(await throughput(path));
    rounds.push(figures);
  }
  const ratio = (floor: number) => median(rounds.map((figures) => figures[0]! / figures[floor]!)).toFixed(2);
  const speed = (median(rounds.map((figures) => figures[0]!)) / 1000).toFixed(0);
  console.log(
    `download ${size} MiB: ${speed} MB/s; ${ratio(1)} of the stream passed through; ${ratio(2)} of the same pieces handed on unopened`,
  );
}
await server.close();
