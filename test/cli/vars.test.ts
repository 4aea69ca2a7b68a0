import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { sendRequest } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";
import { vaultOf } from "./support/login.ts";

/** `item get --format vars`: the values of an Item by label. */

async function varsOf(item: object) {
  const { env, create } = await vaultOf();
  await create({ title: "Worker", category: "API_CREDENTIAL", ...item });
  return runHere(["item", "get", "Worker", "--format", "vars"], { env });
}

it("vars are the values that references with the labels have, without Files and empty values", async () => {
  const { vault, env, create, token } = await vaultOf();
  const fields = [
    { id: "f1", label: "API_KEY", type: "CONCEALED", value: 'a "quote", a line\nbreak and \u202E' },
    { id: "f2", label: "code", type: "OTP", value: "GEZDGNBVGY3TQOJQ", section: { id: "s" } },
    { id: "f3", label: "", value: "by its id" },
    { id: "f4", label: "empty", value: "" },
    { id: "f5", label: "__proto__", value: "own" },
  ];
  const { id } = await create({ title: "Worker", sections: [{ id: "s", label: "Admin" }], fields });
  await sendRequest("POST", `v1/vaults/${vault}/items/${id}/files?name=ca.pem`, token, "a certificate");
  const ran = await runHere(["item", "get", "Worker", "--format", "vars"], { env });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).not.toContain("\u202E");
  const expected = { API_KEY: fields[0]!.value, code: "GEZDGNBVGY3TQOJQ", f3: "by its id", ["__proto__"]: "own" };
  expect(JSON.parse(ran.stdout)).toEqual(expected);
  for (const [label, value] of Object.entries(expected))
    expect(await runHere(["read", "-n", `op://${vault}/Worker/${label}`], { env })).toMatchObject({ code: 0, stdout: value });
});

it("vars leave out what no label names, and stderr has the labels without the values", async () => {
  const ran = await varsOf({
    sections: [{ id: "s", label: "Admin" }],
    fields: [
      { id: "f1", label: "Twice", value: "canary-1" },
      { id: "f2", label: "TWICE", value: "canary-2" },
      { id: "f3", label: "host", value: "first" },
      { id: "f4", label: "host", value: "canary-3", section: { id: "s" } },
      { id: "f5", label: "half", value: "" },
      { id: "f6", label: "half", value: "canary-4" },
    ],
  });
  expect(ran).toMatchObject({
    code: 0,
    stderr: 'Left out, because other fields have their labels: "Twice", "TWICE", "host", "half"\n',
  });
  expect(JSON.parse(ran.stdout)).toEqual({ host: "first" });
});

it("wrangler uploads each value as a secret of that name, by the line in docs/cli.md", async () => {
  const { env, create } = await vaultOf();
  const secrets = { DATABASE_URL: "postgres://app:p%40ss@db/shop", PRIVATE_KEY: "-----BEGIN\nmulti 'line' \"text\"\\\n" };
  const fields = Object.entries(secrets).map(([label, value]) => ({ label, value, type: "CONCEALED" }));
  await create({ title: "Shop secrets", fields });
  const bodies: string[] = [];
  const cloudflare = createServer(async (request, response) => {
    bodies.push(`${request.method} ${request.url} ${await text(request)}`);
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result: { id: "v2" } }));
  });
  await new Promise<void>((listening) => void cloudflare.listen(0, "127.0.0.1", listening));
  const [, title, wrangler] = /^item-vault item get '(.+)' --format vars \| npx (wrangler versions secret bulk .*)$/m.exec(
    readFileSync("docs/cli.md", "utf8"),
  )!;
  const vars = await runHere(["item", "get", title!, "--format", "vars"], { env });
  const cwd = mkdtempSync(join(tmpdir(), "item-vault-wrangler-"));
  symlinkSync(resolve("node_modules"), join(cwd, "node_modules"));
  const child = spawn("sh", ["-c", `node_modules/.bin/${wrangler}`], {
    cwd,
    env: {
      PATH: process.env["PATH"]!,
      HOME: cwd,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      WRANGLER_SEND_METRICS: "false",
      no_proxy: "127.0.0.1",
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${(cloudflare.address() as AddressInfo).port}`,
      CLOUDFLARE_API_TOKEN: "t",
      CLOUDFLARE_ACCOUNT_ID: "a",
    },
  });
  child.stdin.end(vars.stdout);
  const [output, code] = await Promise.all([text(child.stdout), new Promise((ended) => child.on("close", ended))]);
  cloudflare.close();
  expect([code, output]).toEqual([0, expect.stringContaining("2 secrets created")]);
  expect(bodies).toHaveLength(1);
  const { line, body } = /^(?<line>PATCH \S+) (?<body>.*)$/.exec(bodies[0]!)!.groups!;
  expect(line).toBe("PATCH /accounts/a/workers/workers/shop/versions/latest");
  const uploaded = Object.entries(secrets).map(([name, value]) => [name, { type: "secret_text", text: value }]);
  expect(JSON.parse(body!)).toMatchObject({ env: Object.fromEntries(uploaded) });
});
