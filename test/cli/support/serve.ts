import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { newFolder } from "./files.ts";
import { type Running, startCli } from "./process.ts";

/** Runs `item-vault serve` as a process. */

export interface Served extends Running {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** The folder with `copy`, `key`, `client` and `log`. */
  readonly folder: string;
  /** The secret of its clients. */
  readonly secret: () => string;
  /** Sends a request to a path of it, by default with its token, or without one with the secret of its clients. */
  readonly get: (path: string, token?: string, init?: RequestInit) => Promise<Got>;
  /** Kills the process, and waits for its end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

export interface ServeOptions {
  readonly token: string;
  /** The service; by default the Worker of the tests. */
  readonly host?: string;
  readonly folder?: string;
  readonly args?: readonly string[];
  /** Seconds that the service may be silent: fewer for a test in which it is. */
  readonly timeout?: string;
  /** Whether to wait until everything is held. Default `true`. */
  readonly filled?: boolean;
  readonly through?: readonly string[];
}

/** Waits longer than a process takes to start on a machine under load. */
export const PATIENT = { timeout: 120_000, interval: 20 };

/** Starts the process, which is killed at the end of the test. */
export async function startServe({
  token,
  host,
  folder = newFolder(),
  args = [],
  timeout = "120",
  filled = true,
  through = [],
}: ServeOptions): Promise<Served> {
  const files = ["--copy", join(folder, "copy"), "--key-file", join(folder, "key"), "--log", join(folder, "log")];
  const common = ["serve", "--listen", "127.0.0.1:0", "--timeout", timeout, "--client-token-file", join(folder, "client")];
  const running = startCli([...common, ...files, ...args], {
    env: { ITEM_VAULT_TOKEN: token, ...(host && { ITEM_VAULT_HOST: host }) },
    through,
  });
  const stop = async (signal: NodeJS.Signals = "SIGKILL") => {
    running.child.kill(signal);
    await running.ended;
  };
  onTestFinished(() => stop());
  await expect.poll(() => running.output.stderr, PATIENT).toContain("listening on");
  const url = /listening on (\S+)/.exec(running.output.stderr)?.[1] ?? "";
  if (filled) await untilHeld(url);
  const secret = () => readFileSync(join(folder, "client"), "utf8").trim();
  return { ...running, url, folder, secret, get: (path, as = token || secret(), init = {}) => get(url + path, as, init), stop };
}

/** Waits until `/health` says that all vaults are held. */
export async function untilHeld(url: string): Promise<void> {
  await expect.poll(() => copyStatus(url), PATIENT).toBe("ACTIVE");
}

/** The status of the copy in `/health`. */
export async function copyStatus(url: string): Promise<string> {
  const report = (await (await fetch(`${url}/health`)).json()) as { dependencies: { service: string; status: string }[] };
  return report.dependencies.find(({ service }) => service === "copy")!.status;
}

/** An answer, with what tells whether the copy gave it. */
export interface Got {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Seconds; `undefined` for an answer of the service. */
  readonly age: number | undefined;
}

export async function get(url: string, token: string, init: RequestInit = {}): Promise<Got> {
  const headers = { Authorization: `Bearer ${token}`, ...(init.headers as Record<string, string> | undefined) };
  const answer = await fetch(url, { ...init, headers, redirect: "manual" });
  const age = answer.headers.get("Item-Vault-Age");
  return {
    status: answer.status,
    text: await answer.text(),
    headers: answer.headers,
    age: age === null ? undefined : Number(age),
  };
}
