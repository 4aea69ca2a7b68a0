/** The server of the benchmarks of one machine, as a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { releaseFolder } from "../test/config/release.ts";
import { fetchJson } from "./load.ts";

export const secret = () => randomBytes(32).toString("base64url");
export const SECRETS = {
  ADMIN_TOKEN: secret(),
  METRICS_TOKEN: secret(),
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: randomBytes(32).toString("base64") } }),
};

export interface Measured {
  readonly url: URL;
  readonly pid: number;
}

/** Starts a program that says on which URL it listens. */
export async function startProgram(
  args: readonly string[],
): Promise<Measured & { readonly child: ChildProcess; readonly ms: number }> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "pipe"] });
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return { url: new URL(url), pid: child.pid!, child, ms: performance.now() - begun };
  }
  throw new Error("The server ended");
}

/** Writes the release and the secrets, and starts `item-vault server` of the built command line. */
export async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), "bench-host-"));
  const lines = Object.entries(SECRETS).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(join(folder, "secrets"), lines.join(""), { mode: 0o600 });
  const options = ["--data", join(folder, "data"), "--root-keys", join(folder, "secrets"), "--listen", "127.0.0.1:0"];
  const started = await startProgram([
    "packages/cli/bin/item-vault.js",
    "server",
    ...options,
    "--from",
    await releaseFolder(),
    ...ROOT,
  ]);
  return { ...started, secrets: SECRETS };
}

const ROOT = process.getuid?.() === 0 ? ["--allow-root"] : [];

/** MiB that a process has in memory. */
export const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

/** Sends a request of the admin to the current server. */
export const admin = (path: string, body: object) =>
  fetchJson({ method: "POST", path: `/v1/admin/${path}`, token: SECRETS.ADMIN_TOKEN, body: JSON.stringify(body) });
