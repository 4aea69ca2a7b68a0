import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { CliError } from "../../packages/cli/src/frame/failure.ts";
import { writeWholeFile } from "../../packages/cli/src/frame/output-file.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "item-vault-out-"));
  path = join(folder, "secret");
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
    expect({ ...written(), mode: statSync(path).mode & 0o777 }).toEqual({
      files: ["secret"],
      text: `a${"b".repeat(200_000)}`,
      mode: 0o666,
    });
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
