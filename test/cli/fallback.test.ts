import { readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type Client, ItemVaultError } from "@item-vault/client";
import { describe, expect, it, vi } from "vitest";
import { withFallback } from "../../packages/cli/src/fallback/resolve.ts";
import { sealSnapshot } from "../../packages/cli/src/fallback/sealed-file.ts";
import { CliError } from "../../packages/cli/src/frame/failure.ts";
import { resolveAll } from "../../packages/cli/src/read/resolve.ts";
import { renderEnvironment } from "../../packages/cli/src/run/environment.ts";
import { watchValues } from "../../packages/cli/src/run/watch.ts";
import { fileOf, newFolder } from "./support/files.ts";

/** The values of `run`, of a file of `--fallback` and with `--watch`, without a process and a service. */

const ACCESS = { host: "http://127.0.0.1:1", token: "token" };
const REFERENCE = "op://a/b/c";
const away = () => Promise.reject(new CliError("away", { exit: "unavailable" }));
const folder = newFolder();

function resolveBy(path: string, answer: () => Promise<Map<string, string>> = away) {
  const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {} };
  return withFallback({ io, options: { fallback: path }, access: async () => ACCESS }, [REFERENCE], answer);
}

/** A file that was written this many milliseconds ago. */
const sealedOf = ({
  ago = 0,
  host = ACCESS.host,
  token = ACCESS.token,
  change = (bytes: Buffer): Buffer => bytes,
} = {}): string =>
  fileOf(change(sealSnapshot({ host, at: Date.now() - ago, values: { [REFERENCE]: "value" } }, token)), "sealed");

describe("the values of a fallback file", () => {
  it.each([
    ["now", 0],
    ["an hour ago", 3_600_000],
    ["by a clock that was a minute ahead", -60_000],
  ])("are used when it was written %s", async (_, ago) => {
    expect(await resolveBy(sealedOf({ ago }))).toEqual(new Map([[REFERENCE, "value"]]));
  });

  it.each([
    ["older than a day", sealedOf({ ago: 90_000_000 }), "1 day old"],
    ["of a later time than the clock shows", sealedOf({ ago: -3_600_000 }), "from the future"],
    ["empty", sealedOf({ change: () => Buffer.alloc(0) }), "damaged"],
    ["cut off", sealedOf({ change: (bytes) => bytes.subarray(0, -1) }), "damaged"],
    ["changed in one bit", sealedOf({ change: (bytes) => bytes.fill(bytes[40]! ^ 1, 40, 41) }), "damaged"],
    ["of another host", sealedOf({ host: "http://127.0.0.1:2" }), "to another token or host"],
    ["of another token", sealedOf({ token: "other" }), "to another token or host"],
    ["missing", join(folder, "missing"), "there is no fallback file"],
    ["a folder", folder, "the fallback file cannot be read: it is a folder"],
    ["below a file", join(sealedOf(), "sealed"), "the fallback file cannot be read: a part of its path is a file"],
  ])("are not used when it is %s", async (_, path, message) => {
    await expect(resolveBy(path)).rejects.toMatchObject({ exit: "unavailable", message: expect.stringContaining(message) });
  });

  it("are written in place of a symbolic link, and not into a folder", async () => {
    const [link, target] = [join(folder, "link"), sealedOf()];
    symlinkSync(target, link);
    const before = readFileSync(target);
    await resolveBy(link, async () => new Map([[REFERENCE, "new"]]));
    expect(readFileSync(target)).toEqual(before);
    expect(await resolveBy(link)).toEqual(new Map([[REFERENCE, "new"]]));
    expect(await resolveBy(folder, async () => new Map([[REFERENCE, "new"]]))).toEqual(new Map([[REFERENCE, "new"]]));
    expect(statSync(folder).isDirectory()).toBe(true);
  });
});

const unavailable = new ItemVaultError("away", { kind: "unavailable", status: 503 });

/** Watches while each of `answers` is the answer to one resolve. Ends after the last one. */
async function watch(answers: readonly (Map<string, string> | Error)[], events = 0) {
  const end = new AbortController();
  const left = [...answers];
  const client = {
    async *events({ signal, onOpen }: { signal: AbortSignal; onOpen: () => void }) {
      onOpen();
      for (let sent = 0; sent < events; sent++) yield { type: "item.updated", cursor: String(sent) };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  } as unknown as Client;
  const [onChange, say] = [vi.fn<(values: Map<string, string>) => void>(), vi.fn<(text: string) => void>()];
  const resolve = vi.fn<(signal: AbortSignal) => Promise<Map<string, string>>>(async () => {
    const answer = left.shift()!;
    if (left.length === 0) setTimeout(() => end.abort());
    if (answer instanceof Error) throw answer;
    return answer;
  });
  await watchValues(client, { values: new Map([["r", "old"]]), resolve, onChange, say, signal: end.signal, retry: 1 });
  return { changes: onChange.mock.calls.map(([values]) => values.get("r")), resolve, say };
}

it("a change is found by a later attempt, when the service did not answer the first one", async () => {
  const { changes, say } = await watch([unavailable, unavailable, new Map([["r", "new"]])]);
  expect(changes).toEqual(["new"]);
  expect(say.mock.calls[0]).toEqual(["a vault has changed, but its secrets could not be read: away"]);
});

it("a hundred events that follow each other are one request, which ends with the watch", async () => {
  const { changes, resolve } = await watch([new Map([["r", "old"]])], 100);
  expect(changes).toEqual([]);
  expect(resolve).toHaveBeenCalledOnce();
  expect(resolve.mock.calls[0]![0].aborted).toBe(true);
});

/** A client whose references are refused with these statuses. */
const refusing = (...statuses: number[]) =>
  ({ resolve: async () => statuses.map((status) => ({ reference: "r", status, message: "" })) }) as unknown as Client;

it("a refused reference among unavailable ones is a refusal, for which --fallback has no values", async () => {
  await expect(resolveAll(refusing(503, 404), ["r"])).rejects.toMatchObject({ exit: "notFound" });
  await expect(resolveAll(refusing(503, 503), ["r"])).rejects.toMatchObject({ exit: "unavailable" });
});

it("a value with a NUL character, which no variable can hold, is an error with the name of the variable", () => {
  const environment = { plain: {}, templates: new Map([["A", [{ reference: "r" }]]]) };
  expect(() => renderEnvironment(environment, new Map([["r", "secret\0"]]))).toThrow(/^A: the value has a NUL character/);
});
