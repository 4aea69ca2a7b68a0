/**
 * Times the import of 10,000 Items by the command line, and of the same file again, against the Worker of wrangler.toml, beside the same Items
 * that are sent by plain requests, at the most as many a second as an import sends. It takes the number of Items (10,000). `npm run bench:import` prints the result; the exit code is
 * 1 when an import takes more than `RATIO_MAX` times as long for an Item as the plain requests.
 */
import { spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestHarness } from "wrangler";
import { REQUESTS_PER_SECOND } from "../packages/transfer/src/pace.ts";
import { buildPackages } from "../scripts/build/packages.ts";
import { LOCAL } from "../scripts/wrangler.ts";
import { ENVIRONMENT } from "./environment.ts";

const ITEMS = Number(process.argv[2] ?? 10_000);
const RATIO_MAX = 1.5;
/** How many Items are sent by plain requests, and how many at a time: as many as an import writes. */
const PLAIN = { items: Math.min(1_000, ITEMS), atOnce: 16 };

Object.assign(process.env, LOCAL);
process.env["WRANGLER_LOG"] ??= "warn";

/** A Login as password managers have it. Every tenth has an earlier password, every hundredth a File. */
const login = (index: number) => {
  const fields = (password: string) => [
    { purpose: "USERNAME", type: "STRING", value: `user-${index}@example.com` },
    { purpose: "PASSWORD", type: "CONCEALED", value: password },
    { label: "one-time password", type: "OTP", value: "JBSWY3DPEHPK3PXP" },
    { purpose: "NOTES", type: "STRING", value: "Some notes about this login.\n".repeat(3) },
  ];
  const state = (password: string) => ({
    title: `Login ${index}`,
    category: "LOGIN",
    tags: ["imported"],
    urls: [{ href: `https://site-${index}.example.com/login`, primary: true }],
    sections: [],
    fields: fields(password),
  });
  const files = index % 100 === 0 ? [{ name: "key.pem", content: randomBytes(3000).toString("base64") }] : [];
  const history = index % 10 === 0 ? [state("the earlier one")] : [];
  return { ...state(randomBytes(12).toString("base64")), id: randomUUID(), archived: false, files, history };
};

/** Runs the command line. Returns its seconds and the last line that it printed. */
async function time(args: readonly string[], env: Record<string, string>): Promise<{ seconds: number; line: string }> {
  const begun = performance.now();
  const child = spawn(process.execPath, ["packages/cli/bin/item-vault.js", ...args], {
    env: { PATH: process.env["PATH"]!, HOME: "/nonexistent", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString()));
  await new Promise((resolve) => child.on("close", resolve));
  return { seconds: (performance.now() - begun) / 1000, line: output.trim().split("\n").at(-1) ?? "" };
}

/** Sends Items by plain requests. Returns the seconds that an import needs for each Item at least. */
async function timePlain(url: URL, vault: string, token: string): Promise<number> {
  const bodies = Array.from({ length: PLAIN.items }, (_, index) => {
    const { title, category, tags, urls, sections, fields } = login(index);
    return JSON.stringify({ title, category, tags, urls, sections, fields, vault: { id: vault } });
  });
  const headers = { Authorization: `Bearer ${token}` };
  const begun = performance.now();
  const send = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const response = await fetch(new URL(`v1/vaults/${vault}/items`, url), { method: "POST", headers, body });
      if (!response.ok) throw new Error(`A plain request was answered ${response.status}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: PLAIN.atOnce }, send));
  return Math.max((performance.now() - begun) / 1000 / PLAIN.items, 1 / REQUESTS_PER_SECOND);
}

/** The port of workerd, as bench/server.ts finds it: the proxy of wrangler in front of it uses five times the CPU of the Worker. */
async function originOfWorker(): Promise<URL> {
  const origin = new Promise<URL>((resolve) => {
    subscribe("undici:request:create", (event) => {
      const { request } = event as { request: { origin: string; path: string } };
      if (request.path === "/heartbeat") resolve(new URL(request.origin));
    });
  });
  await server.getWorker().fetch("/heartbeat");
  return await origin;
}

const secrets = {
  ADMIN_TOKEN: randomBytes(16).toString("hex"),
  METRICS_TOKEN: randomBytes(16).toString("hex"),
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: randomBytes(32).toString("base64") } }),
};
const server = createTestHarness({ workers: [{ configPath: "wrangler.toml", secrets }] });
const folder = await mkdtemp(join(tmpdir(), "item-vault-import-"));
try {
  await Promise.all([server.listen(), buildPackages()]);
  await server.getWorker().applyD1Migrations("DB");
  const url = await originOfWorker();
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${secrets.ADMIN_TOKEN}` };
    const response = await fetch(new URL(`v1/admin/${path}`, url), { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json()) as { id: string; token: string };
  };
  const [vault, other] = [await post("vaults", { name: "Imported" }), await post("vaults", { name: "Plain" })];
  const { token } = await post("tokens", { name: "import", vaults: { [vault.id]: "rw" } });
  const plain = await timePlain(url, other.id, (await post("tokens", { name: "plain", vaults: { [other.id]: "rw" } })).token);
  const source = join(folder, "source.json");
  await writeFile(
    source,
    JSON.stringify({ format: "item-vault", version: 1, items: Array.from({ length: ITEMS }, (_, index) => login(index)) }),
  );
  const env = { ITEM_VAULT_HOST: url.toString(), ITEM_VAULT_TOKEN: token };
  console.log(`${ITEMS} Items. ${ENVIRONMENT}`);
  console.log(`plain:        ${(plain * 1000).toFixed(2)} ms for each Item, ${(1000 / REQUESTS_PER_SECOND).toFixed(2)} at least`);
  for (const name of ["import:      ", "import again:"]) {
    const { seconds, line } = await time(["import", source, "--vault", vault.id], env);
    const ratio = seconds / ITEMS / plain;
    console.log(`${name} ${seconds.toFixed(1)} s, ${ratio.toFixed(2)} × plain (at most ${RATIO_MAX}). ${line}`);
    if (ratio > RATIO_MAX) process.exitCode = 1;
  }
} finally {
  await server.close();
  await rm(folder, { recursive: true });
}
