import { randomUUID } from "node:crypto";
import { type Answer, type Binding, refused, type Request, type State, type Version, type Worker } from "./account.ts";

/** What the server keeps of Workers: versions with their bindings, and which of them serves. */

interface Metadata {
  readonly bindings: readonly (Binding & { readonly old_name?: string })[];
  readonly keep_bindings?: readonly string[];
  readonly migrations?: { readonly new_tag?: string };
  readonly compatibility_date?: string;
  readonly compatibility_flags?: readonly string[];
  readonly observability?: object;
}

/** What the API shows of a binding: never the text of a secret. */
export const shown = (binding: Binding): Binding =>
  binding.type === "secret_text" ? { type: binding.type, name: binding.name } : binding;

/** The parts of a form. */
async function parseForm({ headers, bytes }: Request): Promise<Map<string, string>> {
  const form = await new Response(new Uint8Array(bytes), { headers: { "Content-Type": headers["content-type"]! } }).formData();
  const parts = [...form].map(async ([name, part]) => [name, typeof part === "string" ? part : await part.text()] as const);
  return new Map(await Promise.all(parts));
}

export async function parseUpload(request: Request): Promise<{ metadata: Metadata; modules: Map<string, string> }> {
  const modules = await parseForm(request);
  const metadata = JSON.parse(modules.get("metadata")!) as Metadata;
  modules.delete("metadata");
  return { metadata, modules };
}

/** Static files, each a part of the form in base64, by the hash that wrangler gives it. */
export const parseAssets = async (request: Request): Promise<[hash: string, content: Buffer][]> =>
  [...(await parseForm(request))].map(([hash, text]) => [hash, Buffer.from(text, "base64")]);

/** The answer with the script: a form with a part for each module and each source map. */
export function scriptOf({ modules }: Version): Response {
  const form = new FormData();
  for (const [name, text] of modules) {
    const type = name.endsWith(".js.map") ? "application/source-map" : "application/javascript+module";
    form.append(name, new File([text], name, { type }));
  }
  return new Response(form, { headers: { "cf-entrypoint": [...modules.keys()][0]! } });
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

/** A version from an upload, which keeps bindings of the version before it. Errors: the answer that refuses it. */
export async function loadVersion(
  request: Request,
  before: readonly Binding[],
  { databases, buckets, queues, manifests }: Pick<State, "databases" | "buckets" | "queues" | "manifests">,
): Promise<Version | Answer> {
  const { metadata, modules } = await parseUpload(request);
  const bindings = bindingsOf(metadata, before);
  if (typeof bindings === "string") return refused(400, 10057, `inherit binding '${bindings}' is invalid`);
  const broken = bindings.find(
    ({ type, id, bucket_name: bucket, queue_name: queue }) =>
      (type === "d1" && !databases.has(id!)) ||
      (type === "r2_bucket" && !buckets.has(bucket!)) ||
      (type === "queue" && !queues.has(queue!)),
  );
  if (broken) return refused(400, 10021, `binding ${broken.name} names nothing that exists`);
  const { compatibility_date: compatibilityDate = "", compatibility_flags: compatibilityFlags = [] } = metadata;
  const assets = manifests.get(request.params[0]!) ?? {};
  const { observability } = metadata;
  return { id: randomUUID(), bindings, modules, compatibilityDate, compatibilityFlags, observability, assets };
}

export function serve(worker: Worker, version: Version): void {
  worker.active = version;
  worker.deployments.unshift({ id: randomUUID(), version: version.id });
}

/** A change of a secret is a version of its own, which serves at once. */
export function changeSecret(worker: Worker, name: string, text: string | undefined): Answer {
  if (worker.active.bindings.some((binding) => binding.name === name && binding.type !== "secret_text"))
    return refused(400, 10053, `Binding name '${name}' already in use.`);
  const others = worker.active.bindings.filter((binding) => binding.name !== name);
  const bindings = text === undefined ? others : [...others, { type: "secret_text", name, text }];
  const version = { ...worker.active, id: randomUUID(), bindings };
  worker.versions.push(version);
  serve(worker, version);
  return { result: { name, type: "secret_text" } };
}

/** A version as the API shows it. */
export const versionOf = ({ id, bindings }: Version, { versions }: Worker) => ({
  id,
  number: versions.findIndex((version) => version.id === id) + 1,
  metadata: {
    created_on: new Date(0).toISOString(),
    modified_on: new Date(0).toISOString(),
    source: "wrangler",
    author_email: "",
  },
  resources: { script: { etag: "etag", handlers: ["fetch"] }, script_runtime: {}, bindings: bindings.map(shown) },
  startup_time_ms: 5,
});
