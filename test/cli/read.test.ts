import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CliError } from "../../packages/cli/src/frame/failure.ts";
import { parseMode, writeWholeFile } from "../../packages/cli/src/frame/output-file.ts";
import { fileOf, modeOf, newFolder } from "./support/files.ts";
import { ends, runHere } from "./support/here.ts";
import { vaultWithLogin } from "./support/login.ts";

/** `read` and `inject`, and the files that commands write. */

let made: Awaited<ReturnType<typeof vaultWithLogin>>;
beforeAll(async () => {
  made = await vaultWithLogin();
});
let folder: string;
let path: string;
beforeEach(() => {
  folder = newFolder();
  path = join(folder, "secret");
});

const run = (args: readonly string[], input = "") => runHere(args, { env: made.env, input });
const success = { code: 0, stdout: "", stderr: "" };

it("read prints the value with a newline, and with -n without one", async () => {
  const reference = made.reference("password");
  expect(await run(["read", reference])).toMatchObject({ ...success, stdout: "correct horse\n" });
  expect(await run(["read", "-n", reference])).toMatchObject({ ...success, stdout: "correct horse" });
});

describe("read -o", () => {
  it("writes a file that only the user reads, and replaces it with --force only", async () => {
    const args = ["read", made.reference("password"), "-o", path];
    expect(await run(args)).toMatchObject(success);
    expect([readFileSync(path, "utf8"), modeOf(path)]).toEqual(["correct horse", 0o600]);
    expect(await run(args)).toMatchObject(ends(2, "--force"));
    expect(await run([...args, "--force", "--file-mode", "0640"])).toMatchObject(success);
    expect(modeOf(path)).toBe(0o640);
  });

  it("writes the bytes of a File that is no text", async () => {
    const bytes = new Uint8Array([0, 255, 10, 13]);
    await made.send("POST", `/items/${made.item}/files?name=raw.bin`, bytes);
    expect(await run(["read", made.reference("raw.bin"), "-o", path])).toMatchObject(success);
    expect(new Uint8Array(readFileSync(path))).toEqual(bytes);
  });
});

describe("inject", () => {
  it("reads and writes files", async () => {
    expect(await run(["inject", "-i", fileOf(made.reference("password")), "-o", path])).toMatchObject(success);
    expect([readFileSync(path, "utf8"), modeOf(path)]).toEqual(["correct horse", 0o600]);
  });

  it("writes nothing when one reference has no value, and names all that have none", async () => {
    const template = ["password", "nothing", "none"].map((field) => made.reference(field)).join("\n");
    const refused = await run(["inject", "-o", path], template);
    expect(refused).toMatchObject({ ...ends(4, `${made.reference("nothing")}: The reference names no field`), stdout: "" });
    expect(refused.stderr).toContain(made.reference("none"));
    expect(existsSync(path)).toBe(false);
  });
});

async function* contentOf(...parts: (string | (() => void))[]) {
  for (const part of parts) {
    if (typeof part === "string") yield Buffer.from(part);
    else await Promise.resolve(part());
  }
}

const written = () => ({ files: readdirSync(folder), text: readFileSync(path, "utf8") });

describe("a file of secrets", () => {
  it("has the mode that was asked for, and the whole of a stream", async () => {
    await writeWholeFile(path, contentOf("a", "b".repeat(200_000)), { mode: 0o666 });
    expect([written(), modeOf(path)]).toEqual([{ files: ["secret"], text: `a${"b".repeat(200_000)}` }, 0o666]);
  });

  it("replaces no file that is made while the content arrives, unless by force", async () => {
    const content = () => contentOf("new", () => writeFileSync(path, "theirs"));
    await expect(writeWholeFile(path, content(), {})).rejects.toMatchObject({ message: `${path} already exists`, exit: "usage" });
    expect(written()).toEqual({ files: ["secret"], text: "theirs" });
    await writeWholeFile(path, content(), { force: true });
    expect(written()).toEqual({ files: ["secret"], text: "new" });
  });

  it("is as before when the content fails, with the failure of the content", async () => {
    writeFileSync(path, "old");
    const failing = contentOf("new", () => {
      throw new CliError("The download ended early");
    });
    await expect(writeWholeFile(path, failing, { force: true })).rejects.toThrow("The download ended early");
    expect(written()).toEqual({ files: ["secret"], text: "old" });
  });

  it("is not written through a link that leads nowhere", async () => {
    symlinkSync(join(folder, "elsewhere"), path);
    await expect(writeWholeFile(path, "new", {})).rejects.toThrow("exists");
    expect(readdirSync(folder)).toEqual(["secret"]);
  });

  it("that is a folder is refused, and a device is written to", async () => {
    mkdirSync(path);
    await expect(writeWholeFile(path, "new", { force: true })).rejects.toThrow("cannot be written: it is a folder");
    await writeWholeFile("/dev/null", "new", {});
  });
});

it.each([
  [undefined, 0o600],
  ["0640", 0o640],
  ["644", 0o644],
])("--file-mode %s", (text, mode) => expect(parseMode(text)).toBe(mode));

it.each(["rw", "0999", "17777", ""])("--file-mode refuses %j", (text) => expect(() => parseMode(text)).toThrow("octal"));
