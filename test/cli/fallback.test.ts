import { mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { withFallback } from "../../packages/cli/src/fallback/resolve.ts";
import { sealSnapshot } from "../../packages/cli/src/fallback/sealed-file.ts";
import { CliError } from "../../packages/cli/src/frame/failure.ts";

/** The file of `--fallback`, without a service. */

const ACCESS = { host: "http://127.0.0.1:1", token: "token" };
const REFERENCE = "op://a/b/c";
const away = () => Promise.reject(new CliError("away", { exit: "unavailable" }));
const folder = mkdtempSync(join(tmpdir(), "item-vault-"));

function resolve(path: string, answer: () => Promise<Map<string, string>> = away) {
  const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {} };
  return withFallback({ io, options: { fallback: path }, access: async () => ACCESS }, [REFERENCE], answer);
}

/** A file that was written this many milliseconds ago. */
function fileOf({ ago = 0, host = ACCESS.host, token = ACCESS.token, change = (bytes: Buffer): Buffer => bytes } = {}): string {
  const path = join(mkdtempSync(join(folder, "case-")), "sealed");
  const sealed = sealSnapshot({ host, at: Date.now() - ago, values: { [REFERENCE]: "value" } }, token);
  writeFileSync(path, change(sealed));
  return path;
}

describe("the values of a fallback file", () => {
  it.each([
    ["now", 0],
    ["an hour ago", 3_600_000],
    ["by a clock that was a minute ahead", -60_000],
  ])("are used when it was written %s", async (_, ago) => {
    expect(await resolve(fileOf({ ago }))).toEqual(new Map([[REFERENCE, "value"]]));
  });

  it.each([
    ["older than a day", fileOf({ ago: 90_000_000 }), "1 day old"],
    ["of a later time than the clock shows", fileOf({ ago: -3_600_000 }), "from the future"],
    ["empty", fileOf({ change: () => Buffer.alloc(0) }), "damaged"],
    ["cut off", fileOf({ change: (bytes) => bytes.subarray(0, -1) }), "damaged"],
    ["changed in one bit", fileOf({ change: (bytes) => bytes.fill(bytes[40]! ^ 1, 40, 41) }), "damaged"],
    ["of another host", fileOf({ host: "http://127.0.0.1:2" }), "to another token or host"],
    ["of another token", fileOf({ token: "other" }), "to another token or host"],
    ["missing", join(folder, "missing"), "there is no fallback file"],
    ["a folder", folder, "the fallback file cannot be read: it is a folder"],
    ["below a file", join(fileOf(), "sealed"), "the fallback file cannot be read: a part of its path is a file"],
  ])("are not used when it is %s", async (_, path, message) => {
    await expect(resolve(path)).rejects.toMatchObject({ exit: "unavailable", message: expect.stringContaining(message) });
  });

  it("are written in place of a symbolic link, and not into a folder", async () => {
    const [link, target] = [join(folder, "link"), fileOf()];
    symlinkSync(target, link);
    const before = readFileSync(target);
    await resolve(link, async () => new Map([[REFERENCE, "new"]]));
    expect(readFileSync(target)).toEqual(before);
    expect(await resolve(link)).toEqual(new Map([[REFERENCE, "new"]]));
    expect(await resolve(folder, async () => new Map([[REFERENCE, "new"]]))).toEqual(new Map([[REFERENCE, "new"]]));
    expect(statSync(folder).isDirectory()).toBe(true);
  });
});
