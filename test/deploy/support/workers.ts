import { randomUUID } from "node:crypto";
import { type Answer, refused, type Request, type Routes, type State, type Worker } from "./account.ts";
import { changeSecret, loadVersion, parseAssets, parseUpload, scriptOf, serve, shown, versionOf } from "./worker-state.ts";

/** Workers: scripts with versions, their secrets, deployments, triggers and static files. */

const json = ({ bytes }: Request) => JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
const missing = () => refused(404, 10007, "This Worker does not exist on your account.");

export function workerRoutes(state: State): Routes {
  const { workers } = state;
  const of = (answer: (worker: Worker, request: Request) => Answer | Promise<Answer>) => (request: Request) => {
    const worker = workers.get(request.params[0]!);
    return worker ? answer(worker, request) : missing();
  };
  return {
    "GET /workers/subdomain": () => ({ result: { subdomain: "example" } }),
    "GET /workers/services/:name": of(({ migrationTag }) => ({
      result: {
        default_environment: {
          environment: "production",
          script: { tag: "tag", tags: [], last_deployed_from: "wrangler", migration_tag: migrationTag },
        },
      },
    })),
    "GET /workers/workers/:name": of(({ onSubdomain }, { params: [name] }) => ({
      result: { id: name, name, subdomain: { enabled: onSubdomain, previews_enabled: false } },
    })),
    "GET /workers/scripts": () => ({
      result: [...workers].map(([id, { migrationTag }]) => ({ id, migration_tag: migrationTag })),
    }),
    "GET /workers/scripts/:name/settings": of(
      ({ active: { bindings, compatibilityDate, compatibilityFlags, observability, tails, logpush = false, more } }) => ({
        result: {
          bindings: bindings.map(shown),
          compatibility_date: compatibilityDate,
          compatibility_flags: compatibilityFlags,
          tail_consumers: tails?.map((service) => ({ service })) ?? null,
          logpush,
          usage_model: "standard",
          placement: {},
          observability: observability ?? {
            enabled: false,
            head_sampling_rate: 1,
            logs: { enabled: false, head_sampling_rate: 1, destinations: [] },
          },
          ...more,
        },
      }),
    ),
    "GET /workers/scripts/:name/content/v2": of(({ active }) => ({ raw: scriptOf(active) })),
    "GET /workers/scripts/:name/secrets": of(({ active }) => ({
      result: active.bindings.filter(({ type }) => type === "secret_text").map(shown),
    })),
    "PUT /workers/scripts/:name/secrets": of((worker, request) =>
      changeSecret(worker, String(json(request)["name"]), String(json(request)["text"])),
    ),
    "DELETE /workers/scripts/:name/secrets/:name": of((worker, { params: [, name] }) => changeSecret(worker, name!, undefined)),
    "GET /workers/scripts/:name/deployments": of(({ deployments }) => ({
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
    "POST /workers/scripts/:name/deployments": of((worker, request) => {
      const [{ version_id: wanted }] = json(request)["versions"] as [{ version_id: string }];
      const version = worker.versions.find(({ id }) => id === wanted);
      if (!version) return refused(400, 10021, "There is no such version");
      serve(worker, version);
      return { result: { id: randomUUID() } };
    }),
    "GET /workers/scripts/:name/versions": of((worker) => ({
      result: { items: worker.versions.toReversed().map((version) => versionOf(version, worker)) },
    })),
    "GET /workers/scripts/:name/versions/:name": of((worker, { params: [, wanted] }) => {
      const version = worker.versions.find(({ id }) => id === wanted);
      return version ? { result: versionOf(version, worker) } : missing();
    }),
    "POST /workers/scripts/:name/versions": of(async (worker, request) => {
      const version = await loadVersion(request, worker.active.bindings, state);
      if (!("bindings" in version)) return version;
      worker.versions.push(version);
      return { result: versionOf(version, worker) };
    }),
    "PUT /workers/scripts/:name": async (request) => {
      const [name] = request.params as [string];
      const known = workers.get(name);
      const version = await loadVersion(request, known?.active.bindings ?? [], state);
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
    "PATCH /workers/scripts/:name/script-settings": of(() => ({ result: {} })),
    "GET /workers/scripts/:name/subdomain": of(({ onSubdomain }) => ({
      result: { enabled: onSubdomain, previews_enabled: false },
    })),
    "POST /workers/scripts/:name/subdomain": of((worker, request) => {
      worker.onSubdomain = Boolean(json(request)["enabled"]);
      return { result: { enabled: worker.onSubdomain, previews_enabled: Boolean(json(request)["previews_enabled"]) } };
    }),
    "PUT /workers/scripts/:name/schedules": of((worker, request) => {
      worker.schedules = JSON.parse(request.bytes.toString("utf8")) as unknown[];
      return { result: { schedules: worker.schedules } };
    }),
    // Before the first upload of a script, too. All files are uploaded in one request; the token at its end stands for them.
    "POST /workers/scripts/:name/assets-upload-session": (request) => {
      const manifest = Object.entries(json(request)["manifest"] as Record<string, { hash: string }>);
      const assets = Object.fromEntries(manifest.map(([path, { hash }]) => [path, hash]));
      state.manifests.set(request.params[0]!, assets);
      return { result: { jwt: jwt(), buckets: [Object.values(assets)] } };
    },
    "POST /workers/assets/upload": async (request) => {
      for (const [hash, content] of await parseAssets(request)) state.assets.set(hash, content);
      return { status: 201, result: { jwt: jwt() } };
    },
  };
}

/** Nobody but wrangler reads it, for its time of expiry. */
const jwt = () =>
  ["{}", JSON.stringify({ exp: 4_000_000_000 }), ""].map((part) => Buffer.from(part).toString("base64url")).join(".");
