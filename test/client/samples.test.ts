import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { operationsOf } from "../../scripts/build/document.ts";
import { samplesOf } from "../../scripts/build/reference/samples.ts";
import { document } from "../../src/api/openapi/document.ts";

/** The samples of the reference of the API (contract 19.15): a command line and a program for each operation. */

const run = promisify(execFile);
const FOLDER = resolve(`dist/samples-${process.pid}`);

beforeAll(() => void mkdirSync(FOLDER, { recursive: true }));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const operations = operationsOf(document);
const textOf = (language: string) =>
  operations.flatMap((placed) => {
    const sample = samplesOf(placed).find((one) => one.language === language);
    return sample ? [{ placed, text: sample.text }] : [];
  });

it("every operation has samples, but those that only the console sends", () => {
  const without = operations.filter((placed) => samplesOf(placed).length === 0);
  const ofSessions = operations.filter(
    ({ operation: { security } }) => security.length > 0 && security.every((one) => "session" in one),
  );
  expect(without).toEqual(ofSessions);
});

it("each sample of TypeScript is a whole program with the types of @item-vault/client", async () => {
  const samples = textOf("TypeScript");
  for (const { placed, text } of samples)
    writeFileSync(join(FOLDER, `${placed.operation.operationId}.ts`), `${text}\nexport {};\n`);
  writeFileSync(
    join(FOLDER, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.json",
      compilerOptions: { types: ["node"], lib: ["esnext", "dom"], noUnusedLocals: false, incremental: false },
      include: ["."],
      exclude: [],
    }),
  );
  const { stdout } = await run("node", ["node_modules/typescript/bin/tsc", "-p", FOLDER]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
}, 120_000);

it("each sample of curl sends the method, the path, the query that is needed, and the body of its operation", async () => {
  const samples = textOf("curl");
  // A function in place of curl prints its arguments, each ended by a NUL, and a line feed.
  const script = samples.map(({ text }) => `${text}\n`).join("\n");
  const values = Object.fromEntries(
    [...new Set(script.match(/\$(\w+)/g))].map((name) => [
      name.slice(1),
      name === "$ITEM_VAULT_HOST" ? "https://host" : `{${name.slice(1).toLowerCase()}}`,
    ]),
  );
  const { stdout } = await run("sh", ["-euc", `curl() { printf '%s\\0' "$@"; printf '\\n\\0'; }\n${script}`], {
    env: { PATH: process.env["PATH"], ...values },
  });
  const sent = stdout
    .split("\n\0")
    .slice(0, -1)
    .map((one) => one.split("\0"));
  const seen = sent.map((all) => {
    const after = (flag: string) => (all.includes(flag) ? all[all.indexOf(flag) + 1] : undefined);
    const url = all.find((one) => one.startsWith("https://host/"))!;
    return [
      after("-X") ?? "GET",
      url.slice("https://host".length).split("?")[0],
      [...new URL(url).searchParams.keys()],
      after("-d") && (JSON.parse(after("-d")!) as unknown),
    ];
  });
  const queries: Readonly<Record<string, string[]>> = {
    uploadFile: ["name"],
    getBackupObject: ["key"],
    putBackupObject: ["key"],
  };
  const expected = samples.map(({ placed: { method, path, operation } }) => {
    const media = operation.requestBody?.content["application/json"];
    return [
      method,
      path,
      queries[operation.operationId] ?? [],
      media && (media.example ?? Object.values(media.examples!)[0]!.value),
    ];
  });
  expect(seen).toEqual(expected);
});
