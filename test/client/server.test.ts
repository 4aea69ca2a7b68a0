import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** The Dockerfile and the unit of systemd: each line that they run is run here, with the folders of the test in place of theirs. */

const run = promisify(execFile);
/** Not in the temporary folder of the tests, into which another account may not look. */
const folder = mkdtempSync("/tmp/item-vault-server-");
const [dockerfile, unit] = ["Dockerfile", "packages/host/item-vault.service"].map((path) => readFileSync(path, "utf8"));

/** An account without rights, if this one may become another: the installed files are not its own, so it cannot write them. */
const OTHER = 65_534;
const isRoot = process.getuid!() === 0;
const account = isRoot ? { uid: OTHER, gid: OTHER } : {};
const owner = isRoot
  ? { user: String(OTHER), group: String(OTHER) }
  : { user: userInfo().username, group: String(process.getgid!()) };

const inFolder = (line: string): string =>
  line
    .replaceAll("/tmp/", `${folder}/`)
    .replace(/--pack-destination \S+/, `--pack-destination ${folder}`)
    .replace("--global", `--global --prefix ${folder}/usr --offline`)
    .replace("-o node -g node", `-o ${owner.user} -g ${owner.group}`)
    .replaceAll(/(?<= )\/(data|secrets)\b/g, `${folder}/$1`);

const linesOf = (text: string, name: string): string[] =>
  Array.from(text.matchAll(new RegExp(`^${name}[ =](.*)$`, "gm")), ([, line]) => line!);

/** Starts the installed program as the other account. Returns its URL, or what it says at its end. */
async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(join(folder, "usr/bin/item-vault"), args, {
    ...account,
    cwd: "/",
    env: { PATH: `${folder}/bin:/usr/bin:/bin`, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    if (line.includes("listening on")) break;
  }
  return { child, said: said.join("\n") };
}

beforeAll(async () => {
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "bin"));
  copyFileSync(process.execPath, join(folder, "bin/node")); // that of the checkout may be out of reach
  // `npm ci` and `npm run build` are those of the checkout that the tests run in.
  const steps = linesOf(dockerfile!, "RUN").filter((line) => !/^npm (ci|run build)$/.test(line));
  for (const step of steps) await run("sh", ["-c", inFolder(step)]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the image", () => {
  it("serves as an account that can write nothing but its two volumes", async () => {
    const [program, ...args] = JSON.parse(linesOf(dockerfile!, "ENTRYPOINT")[0]!) as string[];
    expect(program).toBe("item-vault");
    expect(linesOf(dockerfile!, "USER")).toEqual(["node"]);
    const paths = args.map((argument) => inFolder(` ${argument}`).trim());
    const { child, said } = await start([...paths, "--listen", "127.0.0.1:0"]);
    const url = /listening on (\S+)/.exec(said)?.[1];
    if (url === undefined) throw new Error(said);
    expect((await fetch(`${url}/heartbeat`)).status).toBe(200);
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });
});

describe("the unit of systemd", () => {
  it("starts the server with its credential", async () => {
    const [line] = linesOf(unit!, "ExecStart");
    const [program, ...args] = line!.replace("/var/lib/item-vault", `${folder}/data`).split(" ");
    expect(program).toBe("/usr/local/bin/item-vault");
    const [name] = linesOf(unit!, "LoadCredential")[0]!.split(":");
    const credentials = mkdtempSync(join(folder, "credentials-"));
    copyFileSync(join(folder, "secrets/item-vault"), join(credentials, name!));
    await run("chown", ["-R", `${owner.user}:${owner.group}`, credentials]);
    const { child, said } = await start([...args, "--check"], { CREDENTIALS_DIRECTORY: credentials });
    if (child.exitCode === null) await once(child, "exit");
    expect([child.exitCode, said]).toEqual([0, expect.stringContaining("in order")]);
  });

  it("gives it more time than the twelve seconds in which it stops", () => {
    expect(Number(linesOf(unit!, "TimeoutStopSec")[0])).toBeGreaterThan(12);
  });
});
