import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, inject } from "vitest";
import { PROGRAM, type ServerProcess, serving, startProcess } from "./process.ts";

/** The self-hosted server as a process, as `item-vault server` starts it. */

export interface Server extends ServerProcess {
  readonly url: string;
  readonly data: string;
  readonly secretsPath: string;
}

/** Runs the command line to its end. */
export async function runProgram(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [...PROGRAM, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"], HOME: tmpdir(), ...env },
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stderr };
}

export const newDirectory = (): string => join(mkdtempSync(join(tmpdir(), "host-")), "data");

/** A server that a failed test has left would keep vitest waiting. */
const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts `item-vault server` with arguments and variables of the environment. The process may refuse to start. */
export function spawnServer(args: readonly string[], env: Readonly<Record<string, string>> = {}): ServerProcess {
  const server = startProcess(inject("release"), args, env);
  const { process: child } = server;
  running.add(child.once("exit", () => running.delete(child)));
  return server;
}

const secretsPathOf = (args: readonly string[]): string | undefined =>
  args.includes("--root-keys") ? args[args.indexOf("--root-keys") + 1] : undefined;

/** Starts a server on a free port and waits until it listens. Throws what it says if it ends. */
export async function startServer(data: string, ...args: readonly string[]): Promise<Server> {
  const server = spawnServer([...serving(data), ...args]);
  return { ...server, url: await server.listening(), data, secretsPath: secretsPathOf(args) ?? `${data}.secrets` };
}

/** A secret of a server. */
export function secretOf({ secretsPath }: Pick<Server, "secretsPath">, name: string): string {
  const value = new RegExp(`^${name}='?(.*?)'?$`, "m").exec(readFileSync(secretsPath, "utf8"))?.[1];
  if (value === undefined) throw new Error(`${secretsPath} has no ${name}`);
  return value;
}

export interface Reply {
  readonly status: number;
  readonly body: any;
}

/** Sends a JSON request. Throws when the connection is lost. */
export async function send(base: string, token: string, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(base + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body !== undefined && { "Content-Type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

/** A vault of its own, and a token that may do everything in it. */
export async function makeVault(server: Pick<Server, "url" | "secretsPath">, name = "Vault") {
  const admin = secretOf(server, "ADMIN_TOKEN");
  const { body: vault } = await send(server.url, admin, "POST", "/v1/admin/vaults", { name });
  const { body: issued } = await send(server.url, admin, "POST", "/v1/admin/tokens", {
    name: "test",
    vaults: { [vault.id]: "rw" },
  });
  return { vault: vault.id as string, token: issued.token as string, admin };
}

export const itemOf = (vault: string, title: string) => ({
  vault: { id: vault },
  title,
  category: "LOGIN",
  fields: [{ id: "password", type: "CONCEALED", value: `secret of ${title}` }],
});
