import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { HostResponse } from "./platform/response.ts";

/**
 * The static files beside the Worker (contract 19.10 to 19.14), as Cloudflare serves them with its default `html_handling`
 * (developers.cloudflare.com/workers/static-assets). They are read into memory at the start, so no request reaches the disk.
 */

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/** Rules of headers for paths. Cloudflare does not serve the file. */
const RULES = "_headers";

interface File {
  readonly bytes: Uint8Array;
  readonly type: string;
  readonly tag: string;
}

/** A rule of `_headers`. */
interface Rule {
  readonly path: RegExp;
  readonly unset: string[];
  readonly set: [name: string, value: string][];
}

/** The target of a path: a file, or a redirect to the canonical path of a file. */
type Target = { readonly file: string } | { readonly redirect: string };

/** Returns the answer to a request, or undefined if the Worker answers it. */
export type ServeAsset = (request: Request) => Response | undefined;

/** The table `[assets]` of wrangler.toml. */
export interface AssetSettings {
  /** Patterns of paths that the Worker always answers. */
  readonly run_worker_first: readonly string[];
}

/** Loads the files of a folder. Throws for a file that it could not serve as Cloudflare does. */
export function createAssets(folder: string, { run_worker_first: patterns }: AssetSettings): ServeAsset {
  const files = new Map<string, File>();
  let rules: readonly Rule[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/");
    const bytes = readFileSync(join(folder, path));
    if (path === RULES) rules = parseRules(bytes.toString());
    else files.set(`/${path}`, fileOf(path, bytes));
  }
  const ofWorker = new RegExp(patterns.map((pattern) => globOf(pattern).source).join("|") || "(?!)");
  return (request) => {
    const { pathname, search } = partsOf(request.url);
    if (ofWorker.test(pathname)) return undefined;
    const path = decode(pathname);
    const target = locate(files, path);
    if (!target) return undefined;
    const response = answer(request, files, target, path, pathname, search);
    applyRules(
      rules.filter((rule) => rule.path.test(pathname)),
      response.headers,
    );
    return response as unknown as Response;
  };
}

function fileOf(path: string, bytes: Uint8Array): File {
  const type = TYPES[extname(path)];
  if (type === undefined || path.startsWith("_")) throw new Error(`the static file ${path} has no known type`);
  return { bytes, type, tag: createHash("sha256").update(bytes).digest("hex").slice(0, 32) };
}

/** Returns a pattern in which `*` stands for any text. */
const globOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((text) => RegExp.escape(text))
      .join(".*")}$`,
  );

/** Parses `_headers` (developers.cloudflare.com/workers/static-assets/headers). Throws for an unsupported line. */
function parseRules(text: string): Rule[] {
  const rules: Rule[] = [];
  for (const line of text.split("\n").map((one) => one.trim())) {
    const [, removed] = /^! ([\w-]+)$/.exec(line) ?? [];
    const [, name, value] = /^([\w-]+): (.+)$/.exec(line) ?? [];
    if (line === "" || line.startsWith("#")) continue;
    if (/^\/[\w./*-]*$/.test(line)) rules.push({ path: globOf(line), unset: [], set: [] });
    else if (removed !== undefined) rules.at(-1)!.unset.push(removed);
    else if (name !== undefined) rules.at(-1)!.set.push([name, value!]);
    else throw new Error(`${RULES} has a line that is not understood: ${line}`);
  }
  return rules;
}

/** Applies the rules of a path. The first value of a header replaces the answer's value. Values of later rules are added. */
function applyRules(rules: readonly Rule[], headers: Headers): void {
  const names = new Set<string>();
  for (const { unset, set } of rules) {
    for (const name of unset) headers.delete(name);
    for (const [name, value] of set) {
      if (names.has(name.toLowerCase())) headers.append(name, value);
      else headers.set(name, value);
      names.add(name.toLowerCase());
    }
  }
}

/** Returns the path and the query of a normalized URL. */
function partsOf(url: string): { readonly pathname: string; readonly search: string } {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", start);
  return query < 0 ? { pathname: url.slice(start), search: "" } : { pathname: url.slice(start, query), search: url.slice(query) };
}

/** Decodes the well-formed segments of a path, and removes empty segments. */
const decode = (pathname: string): string => pathname.split("/").map(decodeSegment).join("/").replace(/\/+/g, "/");

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

const encode = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** Alternative endings of a path, with their replacements in the path of the file and in the redirect. The first match counts. */
const SPELLINGS: readonly (readonly [ending: string, others: readonly (readonly [file: string, redirect: string])[]])[] = [
  [
    "/index",
    [
      ["/index.html", "/"],
      [".html", ""],
    ],
  ],
  [
    "/index.html",
    [
      ["/index.html", "/"],
      [".html", ""],
    ],
  ],
  ["/", [[".html", ""]]],
  [
    ".html",
    [
      [".html", ""],
      ["/index.html", "/"],
    ],
  ],
];

/**
 * Finds the target of a path, as the asset server of workers-sdk does (`htmlHandlingAutoTrailingSlash`). Without `redirects`, redirects are
 * ignored.
 */
function locate(files: ReadonlyMap<string, File>, path: string, redirects = true): Target | undefined {
  const [ending, others] = SPELLINGS.find(([text]) => path.endsWith(text)) ?? ["", []];
  const whole = [path, ...(ending === "/" ? [`${path}index.html`] : [])].find((one) => files.has(one));
  if (whole !== undefined && (ending === "/index" || ending === "/")) return { file: whole };
  const head = path.slice(0, path.length - ending.length);
  const candidates = [...others, ...(ending === "" ? [["/index.html", "/"] as const] : [])];
  const redirect = candidates.find(([file, to]) => redirects && isSpellingOf(files, head + file, head + to));
  if (ending !== "" && redirect) return { redirect: head + redirect[1] };
  const file = [path, `${path}.html`].find((one) => files.has(one));
  if (file !== undefined) return { file };
  return redirect && { redirect: head + redirect[1] };
}

/** Returns true if a request for the path gets the file, although the path is not the file's. */
function isSpellingOf(files: ReadonlyMap<string, File>, file: string, path: string): boolean {
  if (files.has(path) || !files.has(file)) return false;
  const target = locate(files, path, false);
  return target !== undefined && "file" in target && target.file === file;
}

function answer(
  { method, headers }: Request,
  files: ReadonlyMap<string, File>,
  target: Target,
  path: string,
  pathname: string,
  search: string,
): HostResponse {
  if (method !== "GET" && method !== "HEAD") return new HostResponse(null, { status: 405 });
  const location = encode("file" in target ? path : target.redirect);
  if ("redirect" in target || location !== pathname)
    return new HostResponse(null, { status: 307, headers: { Location: location + search } });
  const { bytes, type, tag } = files.get(target.file)!;
  const isCached = !headers.has("Authorization") && !headers.has("Range");
  const own = {
    ETag: `"${tag}"`,
    "Content-Type": type,
    ...(isCached && { "Cache-Control": "public, max-age=0, must-revalidate" }),
  };
  const isUnchanged = [`"${tag}"`, `W/"${tag}"`].includes(headers.get("If-None-Match") ?? "");
  return isUnchanged
    ? new HostResponse(null, { status: 304, headers: own })
    : new HostResponse(method === "HEAD" ? null : bytes, { headers: own });
}
