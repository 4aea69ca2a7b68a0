import { randomUUID } from "node:crypto";
import { type Answer, refused, type Request, type Route, type State } from "./cloudflare.ts";

/** Workers: scripts with versions, their secrets, deployments, triggers and static files. */

export interface Binding {
  readonly type: string;
  readonly name: string;
  /** Of a variable or a secret. */
  readonly text?: string;
  /** Of a database. */
  readonly id?: string;
  readonly bucket_name?: string;
  readonly queue_name?: string;
}

export interface Version {
  readonly id: string;
  readonly bindings: readonly Binding[];
  readonly code: string;
}

export interface Worker {
  readonly versions: Version[];
  /** The version that serves. */
  active: Version;
  /** The secrets and versions in the order in which they came to serve. */
  readonly deployments: { id: string; version: string }[];
  schedules: unknown[];
  onSubdomain: boolean;
  migrationTag: string | undefined;
}

export type Workers = Map<string, Worker>;

interface Metadata {
  readonly bindings: readonly (Binding & { readonly old_name?: string })[];
  readonly keep_bindings?: readonly string[];
  readonly migrations?: { readonly new_tag?: string };
}

const json = ({ bytes }: Request) => JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;

/** What the API shows of a binding: never the text of a secret. */
const shown = (binding: Binding): Binding =>
  binding.type === "secret_text" ? { type: binding.type, name: binding.name } : binding;

async function parseUpload({ headers, bytes }: Request): Promise<{ metadata: Metadata; code: string }> {
  const form = await new Response(new Uint8Array(bytes), { headers: { "Content-Type": headers["content-type"]! } }).formData();
  const parts = await Promise.all(
    [...form].map(async ([name, part]) => [name, typeof part === "string" ? part : await part.text()] as const),
  );
  const metadata = JSON.parse(parts.find(([name]) => name === "metadata")![1]) as Metadata;
  return {
    metadata,
    code: parts
      .filter(([name]) => name !== "metadata")
      .map(([, text]) => text)
      .join("\n"),
  };
}

/** The bindings of an upload. Errors: the name of a binding that is inherited from nothing. */
function bindingsOf({ bindings, keep_bindings: kept = [] }: Metadata, before: readonly Binding[]): Binding[] | string {
  const named = bindings.map((binding) =>
    binding.type === "inherit" ? (before.find(({ name }) => name === binding.name) ?? binding.name) : binding,
  );
  const missing = named.find((binding) => typeof binding === "string");
  if (missing !== undefined) return missing;
  const given = new Set(bindings.map(({ name }) => name));
  return [...(named as Binding[]), ...before.filter(({ type, name }) => kept.includes(type) && !given.has(name))];
}

export function workerRoutes(state: Pick<State, "workers" | "subdomain" | "databases" | "buckets" | "queues">): Route[] {
  const { workers } = state;
  const missing = () => refused(404, 10007, "This Worker does not exist on your account.");
  const of = (answer: (worker: Worker, request: Request) => Answer | Promise<Answer>) => (request: Request) => {
    const worker = workers.get(request.params[0]!);
    return worker ? answer(worker, request) : missing();
  };
  const serve = (worker: Worker, version: Version) => {
    worker.active = version;
    worker.deployments.unshift({ id: randomUUID(), version: version.id });
  };
  /** Cloudflare refuses a version that is bound to what does not exist. */
  const absent = ({ type, id, bucket_name: bucket, queue_name: queue }: Binding) =>
    (type === "d1" && !state.databases.has(id!)) ||
    (type === "r2_bucket" && !state.buckets.has(bucket!)) ||
    (type === "queue" && !state.queues.has(queue!));
  const upload = async (request: Request, before: readonly Binding[]): Promise<Version | Answer> => {
    const { metadata, code } = await parseUpload(request);
    const bindings = bindingsOf(metadata, before);
    if (typeof bindings === "string") return refused(400, 10057, `inherit binding '${bindings}' is invalid`);
    const broken = bindings.find(absent);
    return broken
      ? refused(400, 10021, `binding ${broken.name} names nothing that exists`)
      : { id: randomUUID(), bindings, code };
  };
  const changeSecret = (worker: Worker, name: string, text: string | undefined): Answer => {
    if (worker.active.bindings.some((binding) => binding.name === name && binding.type !== "secret_text"))
      return refused(400, 10053, `Binding name '${name}' already in use.`);
    const others = worker.active.bindings.filter((binding) => binding.name !== name);
    const version = {
      ...worker.active,
      id: randomUUID(),
      bindings: text === undefined ? others : [...others, { type: "secret_text", name, text }],
    };
    worker.versions.push(version);
    serve(worker, version);
    return { result: { name, type: "secret_text" } };
  };
  const versionOf = ({ id, bindings }: Version, worker: Worker) => ({
    id,
    number: worker.versions.findIndex((version) => version.id === id) + 1,
    metadata: {
      created_on: new Date(0).toISOString(),
      modified_on: new Date(0).toISOString(),
      source: "wrangler",
      author_email: "",
    },
    resources: { script: { etag: "etag", handlers: ["fetch"] }, script_runtime: {}, bindings: bindings.map(shown) },
    startup_time_ms: 5,
  });
  return [
    [
      "GET",
      /^\/workers\/subdomain$/,
      () => (state.subdomain === undefined ? refused(404, 10007, "No subdomain") : { result: { subdomain: state.subdomain } }),
    ],
    [
      "GET",
      /^\/workers\/services\/([^/]+)$/,
      of(({ migrationTag }) => ({
        result: {
          default_environment: {
            environment: "production",
            script: { tag: "tag", tags: [], last_deployed_from: "wrangler", migration_tag: migrationTag },
          },
        },
      })),
    ],
    [
      "GET",
      /^\/workers\/workers\/([^/]+)$/,
      of(({ onSubdomain }, { params: [name] }) => ({
        result: { id: name, name, subdomain: { enabled: onSubdomain, previews_enabled: false } },
      })),
    ],
    [
      "GET",
      /^\/workers\/scripts$/,
      () => ({ result: [...workers].map(([id, { migrationTag }]) => ({ id, migration_tag: migrationTag })) }),
    ],
    [
      "GET",
      /^\/workers\/scripts\/([^/]+)\/settings$/,
      of(({ active }) => ({ result: { bindings: active.bindings.map(shown) } })),
    ],
    [
      "GET",
      /^\/workers\/scripts\/([^/]+)\/secrets$/,
      of(({ active }) => ({ result: active.bindings.filter(({ type }) => type === "secret_text").map(shown) })),
    ],
    [
      "PUT",
      /^\/workers\/scripts\/([^/]+)\/secrets$/,
      of((worker, request) => changeSecret(worker, String(json(request)["name"]), String(json(request)["text"]))),
    ],
    [
      "DELETE",
      /^\/workers\/scripts\/([^/]+)\/secrets\/([^/]+)$/,
      of((worker, { params: [, name] }) => changeSecret(worker, name!, undefined)),
    ],
    [
      "GET",
      /^\/workers\/scripts\/([^/]+)\/deployments$/,
      of(({ deployments }) => ({
        result: {
          deployments: deployments.map(({ id, version }) => ({
            id,
            source: "wrangler",
            strategy: "percentage",
            created_on: new Date(0).toISOString(),
            author_email: "",
            annotations: {},
            versions: [{ version_id: version, percentage: 100 }],
          })),
        },
      })),
    ],
    [
      "POST",
      /^\/workers\/scripts\/([^/]+)\/deployments$/,
      of((worker, request) => {
        const [{ version_id: wanted }] = json(request)["versions"] as [{ version_id: string }];
        const version = worker.versions.find(({ id }) => id === wanted);
        if (!version) return refused(400, 10021, "There is no such version");
        serve(worker, version);
        return { result: { id: randomUUID() } };
      }),
    ],
    [
      "GET",
      /^\/workers\/scripts\/([^/]+)\/versions$/,
      of((worker) => ({ result: { items: worker.versions.toReversed().map((version) => versionOf(version, worker)) } })),
    ],
    [
      "GET",
      /^\/workers\/scripts\/([^/]+)\/versions\/([^/]+)$/,
      of((worker, { params: [, wanted] }) => {
        const version = worker.versions.find(({ id }) => id === wanted);
        return version ? { result: versionOf(version, worker) } : missing();
      }),
    ],
    [
      "POST",
      /^\/workers\/scripts\/([^/]+)\/versions$/,
      of(async (worker, request) => {
        const version = await upload(request, worker.active.bindings);
        if (!("bindings" in version)) return version;
        worker.versions.push(version);
        return { result: versionOf(version, worker) };
      }),
    ],
    [
      "PUT",
      /^\/workers\/scripts\/([^/]+)$/,
      async (request) => {
        const [name] = request.params as [string];
        const known = workers.get(name);
        const version = await upload(request, known?.active.bindings ?? []);
        if (!("bindings" in version)) return version;
        const { metadata } = await parseUpload(request);
        const worker = known ?? {
          versions: [],
          active: version,
          deployments: [],
          schedules: [],
          onSubdomain: false,
          migrationTag: undefined,
        };
        workers.set(name, worker);
        worker.versions.push(version);
        worker.migrationTag = metadata.migrations?.new_tag ?? worker.migrationTag;
        serve(worker, version);
        return { result: { id: name, etag: "etag", deployment_id: version.id.replaceAll("-", ""), startup_time_ms: 5 } };
      },
    ],
    ["PATCH", /^\/workers\/scripts\/([^/]+)\/script-settings$/, of(() => ({ result: {} }))],
    [
      "GET",
      /^\/workers\/scripts\/([^/]+)\/subdomain$/,
      of(({ onSubdomain }) => ({ result: { enabled: onSubdomain, previews_enabled: false } })),
    ],
    [
      "POST",
      /^\/workers\/scripts\/([^/]+)\/subdomain$/,
      of((worker, request) => {
        worker.onSubdomain = Boolean(json(request)["enabled"]);
        return { result: { enabled: worker.onSubdomain, previews_enabled: Boolean(json(request)["previews_enabled"]) } };
      }),
    ],
    [
      "PUT",
      /^\/workers\/scripts\/([^/]+)\/schedules$/,
      of((worker, request) => {
        worker.schedules = JSON.parse(request.bytes.toString("utf8")) as unknown[];
        return { result: { schedules: worker.schedules } };
      }),
    ],
    // Before the first upload of a script, too. All files are uploaded in one request; the token at its end stands for them.
    [
      "POST",
      /^\/workers\/scripts\/([^/]+)\/assets-upload-session$/,
      (request) => {
        const hashes = Object.values(json(request)["manifest"] as Record<string, { hash: string }>).map(({ hash }) => hash);
        return { result: { jwt: jwt(), buckets: [hashes] } };
      },
    ],
    ["POST", /^\/workers\/assets\/upload$/, () => ({ status: 201, result: { jwt: jwt() } })],
  ];
}

/** Nobody but wrangler reads it, for its time of expiry. */
const jwt = () =>
  ["{}", JSON.stringify({ exp: 4_000_000_000 }), ""].map((part) => Buffer.from(part).toString("base64url")).join(".");
