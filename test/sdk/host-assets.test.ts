import { once } from "node:events";
import { readdirSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";
import { type AssetSettings, createAssets } from "../../packages/host/src/assets.ts";
import { Front } from "../../packages/host/src/http.ts";
import { HostResponse } from "../../packages/host/src/platform/response.ts";
import { sendRaw } from "./support/requests.ts";

/** The static files of the self-hosted server: each request is answered as by the asset server of Cloudflare, which wrangler runs. */

vi.stubGlobal("Response", HostResponse); // as the host does
afterAll(() => vi.unstubAllGlobals()); // the files of this project share a process

const FOLDER = "dist/assets";
const settings = readConfig({ config: "wrangler.toml" }).assets as unknown as AssetSettings;
const FILES = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => `/${relative(FOLDER, join(parentPath, name))}`);

interface Reply {
  readonly status: number;
  /** "worker" for an answer of the Worker, whose headers and body are nothing of the files. */
  readonly from: "worker" | "files";
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly tag: string | undefined;
}

/** Headers of the connection. The tags of the two servers are different ones. */
const OF_SERVER = new Set(["date", "connection", "keep-alive", "transfer-encoding", "etag", "cf-cache-status"]);

async function ask(port: number, method: string, path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { status, headers: answered, body } = await sendRaw({ port, method, path, headers });
  if (answered["1password-connect-version"] !== undefined)
    return { status: 0, from: "worker", headers: {}, body: "", tag: undefined };
  const tag = answered.etag;
  const kept = Object.fromEntries(Object.entries(answered).filter(([name]) => !OF_SERVER.has(name)));
  return { status, from: "files", headers: { ...kept, hasTag: tag !== undefined }, body: body.toString(), tag };
}

let front: Front;
let ports: readonly [number, number];
beforeAll(async () => {
  const serve = createAssets(FOLDER, settings);
  front = new Front({
    handle: (request) => serve(request) ?? new Response(null, { headers: { "1Password-Connect-Version": "1" } }),
    settled: () => undefined,
    report: (_, error) => console.error(error),
  });
  front.server.listen(0, "127.0.0.1");
  await once(front.server, "listening");
  ports = [Number(new URL(inject("url")).port), (front.server.address() as AddressInfo).port];
});
afterAll(() => front.stop(async () => undefined));

/** Compares what both servers answer. `headers`: those of a server that gives files this tag. */
async function expectSame(
  method: string,
  path: string,
  headers: (tag: string) => Record<string, string> = () => ({}),
): Promise<Reply> {
  const [theirs, ours] = await Promise.all(
    ports.map(async (port) => {
      const { tag } = await ask(port, "GET", path);
      const { tag: _, ...reply } = await ask(port, method, path, headers(tag ?? ""));
      return reply;
    }),
  );
  expect({ path, ...ours }).toEqual({ path, ...theirs });
  return ours as Reply;
}

it("each file has the status, headers and bytes of Cloudflare", async () => {
  expect(FILES.length).toBeGreaterThan(50);
  for (const path of FILES) await expectSame("GET", path);
});

/** One file of each type, and the pages. */
const SAMPLES = [
  ...Map.groupBy(FILES, (path) => (path.endsWith(".html") ? path : path.slice(path.lastIndexOf(".")))).values(),
].map(([first]) => first!);

/** Other spellings of the path of a file. */
const spellings = (path: string): string[] => {
  const stem = path.replace(/\.\w+$/, "");
  const folder = path.replace(/[^/]*$/, "");
  return [
    stem,
    `${stem}/`,
    `${stem}.html`,
    `${stem}/index`,
    `${stem}/index.html`,
    folder,
    folder.slice(0, -1) || "/",
    `${folder}index`,
    `${folder}index.html`,
    `${folder.slice(0, -1)}.html`,
    `${path}/`,
    `${path}?a=b&c=/../d`,
    `/${path}`,
    path.replace(/\/(?=[^/]*$)/, "//"),
    path.replace(".", "%2E"),
    path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    path.replace(/\/(?=[^/]*$)/, "%2F"),
    `/${path.slice(1).replaceAll("/", "\\")}`,
    path.toUpperCase(),
    `/x/..${path}`,
    `/v1/..${path}`,
    `/v1/%2e%2e${path}`,
    `/v1${path}`,
    `${path}%`,
    `${path}%00`,
    `${path}:1`,
    `/%2e%2e/%2e%2e${path}`,
    `/..%2f..%2f..${path}`,
    `/..%2f${FOLDER}${path}`,
  ];
};

describe("another spelling of a path is answered as by Cloudflare", () => {
  it.each(SAMPLES)("%s", async (path) => {
    for (const spelling of spellings(path).filter((one) => one.startsWith("/"))) await expectSame("GET", spelling);
  });
});

describe("a request is answered as by Cloudflare", () => {
  it.each(["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("with %s", async (method) => {
    for (const path of [...SAMPLES, "/docs", "/nothing"]) await expectSame(method, path);
  });

  const HEADERS: readonly (readonly [string, (tag: string) => Record<string, string>])[] = [
    ["its tag", (tag) => ({ "If-None-Match": tag })],
    ["its weak tag", (tag) => ({ "If-None-Match": `W/${tag}` })],
    ["a list of tags", (tag) => ({ "If-None-Match": `"x", ${tag}` })],
    ["any tag", () => ({ "If-None-Match": "*" })],
    ["another tag", () => ({ "If-None-Match": '"x"' })],
    ["its tag and HEAD", (tag) => ({ "If-None-Match": tag })],
    ["a token", () => ({ Authorization: "Bearer x" })],
    ["a range", () => ({ Range: "bytes=0-1" })],
  ];
  it.each(HEADERS)("with %s", async (name, headers) => {
    for (const path of SAMPLES) await expectSame(name.includes("HEAD") ? "HEAD" : "GET", path, headers);
  });

  it("where a pattern of wrangler.toml gives the path to the Worker", async () => {
    for (const pattern of settings.run_worker_first)
      expect((await expectSame("GET", pattern.replace("*", "x"))).from).toBe("worker");
  });

  it("without files of the disk beside the folder", async () => {
    for (const path of [
      "/../package.json",
      "/..%2fpackage.json",
      "/..%2f..%2fpackage.json",
      "/_headers",
      "//etc/passwd",
      "/console/..%2f_headers",
    ])
      expect((await expectSame("GET", path)).from).toBe("worker");
  });
});
