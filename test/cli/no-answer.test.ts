import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sealSnapshot } from "../../packages/cli/src/fallback/sealed-file.ts";
import { createFetch } from "../../packages/cli/src/frame/fetch.ts";
import { FAULTS, startDeafServer } from "./support/deaf.ts";
import { fileOf, newFolder } from "./support/files.ts";
import { ends, runHere } from "./support/here.ts";
import { hurryTime } from "./support/hurry.ts";
import { ASKING, lineOf, REFERENCE } from "./support/lines.ts";

/** Every command ends when what answers is not the service, or when nothing answers. */

/** Starts the server of a fault until the end of the test. Returns the variables of a command that asks it. */
async function envOf(fault: (typeof FAULTS)[string]) {
  return { ITEM_VAULT_HOST: await startDeafServer(fault), ITEM_VAULT_TOKEN: "token", ITEM_VAULT_ADMIN_TOKEN: "admin" };
}

/** A file of --fallback for a host. */
const sealedFor = (host: string) => fileOf(sealSnapshot({ host, at: Date.now(), values: { [REFERENCE]: "kept" } }, "token"));

const injectWith = (path: string, env: Readonly<Record<string, string>>) =>
  runHere(["inject", "--fallback", path], { env, input: `x: ${REFERENCE}` });

describe.each(Object.entries(FAULTS))("%s", (_, fault) => {
  it("ends every command with code 6, and in words", async () => {
    hurryTime();
    const env = await envOf(fault);
    const ran = await Promise.all(
      ASKING.map(async (command) => {
        const { args, ...line } = lineOf(command);
        const { code, stderr } = await runHere(args, { input: line.input, env: { ...env, ...line.env } });
        const inWords =
          /did not answer|not Item Vault|ended early|stopped within its answer|connection broke|Cannot connect/.test(stderr);
        return { name: command.name, code, stderr: inWords ? "" : stderr };
      }),
    );
    const wrong = ran.filter(({ code, stderr }) => code !== 6 || stderr !== "");
    expect(wrong).toEqual([]);
  });

  it("makes inject and run use the values of --fallback", async () => {
    hurryTime();
    const env = { ...(await envOf(fault)), SECRET: REFERENCE };
    const path = sealedFor(env.ITEM_VAULT_HOST);
    expect(await injectWith(path, env)).toMatchObject({ code: 0, stdout: "x: kept" });
    const command = ["--", "sh", "-c", 'test "$SECRET" = kept'];
    expect(await runHere(["run", "--fallback", path, ...command], { env })).toMatchObject({ code: 0 });
  });
});

it.each([
  ["HTTPS://Example.com:443/", "https://example.com"],
  ["https://example.com", "HTTPS://Example.com:443/"],
  ["https://example.com/v1/", "https://EXAMPLE.com"],
])("makes inject use the values of --fallback that were stored for %s with the host %s", async (stored, host) => {
  hurryTime();
  const spy = vi.spyOn(globalThis, "fetch").mockRejectedValue(new TypeError("no network"));
  onTestFinished(() => spy.mockRestore());
  const ran = await injectWith(sealedFor(stored), { ITEM_VAULT_HOST: host, ITEM_VAULT_TOKEN: "token" });
  expect(ran).toMatchObject({ code: 0, stdout: "x: kept" });
});

it("names why a file of --fallback cannot be read, and says that there is none only when it is missing", async () => {
  hurryTime();
  const env = { ITEM_VAULT_HOST: "http://127.0.0.1:1", ITEM_VAULT_TOKEN: "token" };
  const folder = newFolder();
  const words = ["the fallback file cannot be read: it is a folder", `The fallback file is "${folder}".`];
  expect(await injectWith(folder, env)).toMatchObject(ends(6, ...words));
  expect(await injectWith(`${folder}/missing`, env)).toMatchObject(ends(6, "there is no fallback file"));
});

it("--timeout and ITEM_VAULT_TIMEOUT say how long the service may be silent", async () => {
  const env = await envOf(FAULTS["a silent host"]!);
  const byOption = await runHere("whoami --timeout 0.02", { env: { ...env, ITEM_VAULT_TIMEOUT: "3600" } });
  expect(byOption).toMatchObject(ends(6, "did not answer within 0.02 s"));
  const byVariable = await runHere("whoami", { env: { ...env, ITEM_VAULT_TIMEOUT: "0.03" } });
  expect(byVariable).toMatchObject(ends(6, "did not answer within 0.03 s"));
  expect(await runHere("whoami --timeout 0", { env })).toMatchObject({ code: 2 });
});

it.each([
  [10, "whoami"],
  [60, "vault list --admin"],
])("waits %i s for an answer unless it is told otherwise: %s", async (seconds, line) => {
  hurryTime();
  const env = await envOf(FAULTS["a silent host"]!);
  expect(await runHere(line, { env })).toMatchObject(ends(6, `did not answer within ${seconds} s`));
});

/** A request whose bodies the test moves on. `passes`: so many milliseconds. */
function startTransfer(body?: ReadableStream) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let signal: AbortSignal | undefined;
  let sent: ReadableStreamDefaultReader | undefined;
  const answer = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 0 });
  const { promise, resolve } = Promise.withResolvers<Response>();
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation((_url, init) => {
    [signal, sent] = [init!.signal!, (init!.body as ReadableStream | undefined)?.getReader()];
    return promise;
  });
  onTestFinished(() => spy.mockRestore());
  const response = createFetch(10_000)("http://127.0.0.1/", { method: "POST", ...(body && { body }) });
  return {
    response,
    sent: () => sent!,
    answer: answer.writable.getWriter(),
    begin: () => resolve(new Response(answer.readable, { headers: { "Request-Id": "1" } })),
    isAborted: () => signal!.aborted,
    passes: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
  };
}

it("says that an answer ended early when the connection ends within it, however the answer is read", async () => {
  const { response, begin, answer } = startTransfer();
  begin();
  const text = (await response).text();
  void answer.abort(new TypeError("terminated"));
  await expect(text).rejects.toMatchObject({
    kind: "network",
    message: "The answer of the service at http://127.0.0.1 ended early",
  });
});

describe("a transfer that goes on for longer than the service may be silent", () => {
  it("is no silence while a download goes on, and is one when it stops", async () => {
    const { response, begin, answer, isAborted, passes } = startTransfer();
    begin();
    const reader = (await response).body!.getReader();
    for (let chunk = 0; chunk < 3; chunk++) {
      const read = reader.read();
      await passes(9_000);
      void answer.write(new Uint8Array([chunk]));
      expect(await read).toEqual({ done: false, value: new Uint8Array([chunk]) });
      await passes(3_600_000); // whoever reads may take its time
      expect(isAborted()).toBe(false);
    }
    void reader.read();
    await passes(10_000);
    expect(isAborted()).toBe(true);
  });

  it("is no silence while an upload goes on, and is one when no answer follows", async () => {
    const source = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 0 });
    const writer = source.writable.getWriter();
    const { sent, isAborted, passes } = startTransfer(source.readable);
    for (let chunk = 0; chunk < 3; chunk++) {
      const read = sent().read();
      await passes(3_600_000); // what is sent may come from a slow program
      void writer.write(new Uint8Array([chunk]));
      expect(await read).toEqual({ done: false, value: new Uint8Array([chunk]) });
      expect(isAborted()).toBe(false);
    }
    void writer.close();
    await sent().read();
    await passes(10_000);
    expect(isAborted()).toBe(true);
  });

  it("is no silence of the upload any more when the answer comes before its end", async () => {
    const source = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 0 });
    const writer = source.writable.getWriter();
    const { response, begin, sent, isAborted, passes } = startTransfer(source.readable);
    const upload = sent().read();
    begin();
    const reader = (await response).body!.getReader();
    void writer.write(new Uint8Array([1]));
    await upload;
    await passes(3_600_000); // nobody reads the answer
    expect(isAborted()).toBe(false);
    void reader.read();
    await passes(9_000);
    void sent().read(); // must not stop the clock of the answer
    await passes(1_000);
    expect(isAborted()).toBe(true);
  });
});
