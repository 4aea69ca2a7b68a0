import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import { UNDER_LOAD } from "../support/waits.ts";
import { vaultWithLogin } from "./support/login.ts";

/** Node has no pseudo-terminals; `script` of util-linux makes one. Without that program these tests cannot run. */
const HAS_SCRIPT = spawnSync("script", ["--version"]).status === 0;

let made: Awaited<ReturnType<typeof vaultWithLogin>>;
beforeAll(async () => {
  made = await vaultWithLogin();
});

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Runs `item-vault` in a terminal. `type`: writes to the keyboard. */
function startInTerminal(args: readonly string[], env: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), "item-vault-home-"));
  // With exec, no shell remains between the terminal and the process.
  const line = `exec ${[process.execPath, resolve("packages/cli/bin/item-vault.js"), ...args].map(quote).join(" ")}`;
  const child = spawn("script", ["-qfec", line, "/dev/null"], {
    env: { PATH: process.env["PATH"]!, SHELL: "/bin/sh", HOME: home, ITEM_VAULT_HOST: inject("url"), ...env },
  });
  const shown = { text: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (shown.text += text));
  const ended = new Promise<number | null>((end) => void child.on("close", end));
  const sees = (text: string) => vi.waitFor(() => expect(shown.text).toContain(text), UNDER_LOAD);
  return { type: (keys: string) => void child.stdin.write(keys), shown, sees, ended };
}

describe.skipIf(!HAS_SCRIPT)("in a terminal", () => {
  it("a token is typed without echo, and a mistyped character can be removed", async () => {
    const { type, shown, sees, ended } = startInTerminal(["login"]);
    await sees("Token: ");
    type(`${made.token}x\u007f\r`);
    expect(await ended).toBe(0);
    expect(shown.text).toContain("stored in");
    expect(shown.text).not.toContain(made.token.slice(0, 20));
  });

  it("Ctrl-C at the prompt ends the command", async () => {
    const { type, sees, ended } = startInTerminal(["login"]);
    await sees("Token: ");
    type("\u0003");
    expect(await ended).not.toBe(0);
  });

  it("Ctrl-C reaches the command of run once, which decides when to end", async () => {
    const source =
      "let n = 0; process.on('SIGINT', () => { n++; setTimeout(() => { console.log('interrupts', n); process.exit(9); }, 400); }); console.log('ready'); setInterval(() => {}, 1000)";
    const env = { ...made.env, SECRET: made.reference("password") };
    const { type, sees, ended } = startInTerminal(["run", "--", process.execPath, "-e", source], env);
    await sees("ready");
    type("\u0003");
    await sees("interrupts 1");
    expect(await ended).toBe(9);
  });

  it("the command of run gets the terminal with --no-masking, and a pipe without", async () => {
    const env = { ...made.env, SECRET: made.reference("password") };
    const source = "console.log('terminal', process.stdout.isTTY === true, process.stdin.isTTY === true)";
    const direct = startInTerminal(["run", "--no-masking", "--", process.execPath, "-e", source], env);
    const masked = startInTerminal(["run", "--", process.execPath, "-e", source], env);
    await direct.sees("terminal true true");
    await masked.sees("terminal false true");
    expect(await Promise.all([direct.ended, masked.ended])).toEqual([0, 0]);
  });
});
