import { type Deployed, type DeployedBinding, isServed, type Served } from "./deployed.ts";
import type { Hashes, Release, ReleaseBinding } from "./release.ts";

/** Compares a deployment with a release. */

/** `configured`: the operator may choose the value, so it is shown and not judged. */
export type Outcome = "equal" | "configured" | "changed" | "missing" | "unexpected";

export interface Result {
  readonly outcome: Outcome;
  readonly kind: "version" | "deployment" | "module" | "setting" | "binding" | "variable" | "secret" | "file";
  readonly name: string;
  /** In words; never the value of a secret, or of anything that the release does not have. */
  readonly detail?: string;
}

/** Returns true if a result shows that the deployment differs from the release. */
export const isDifference = ({ outcome }: Result): boolean => outcome !== "equal" && outcome !== "configured";

export interface Found {
  readonly deployed: Deployed;
  /** The version that /health shows. */
  readonly version: string | undefined;
  readonly served: ReadonlyMap<string, Served>;
}

/** Compares a release with the deployment. `name` is the name of the Worker. */
export const compare = ({ version, worker, assets }: Release, found: Found, name: string): Result[] => [
  compareVersion(version, found.version),
  compareServing(found.deployed),
  ...compareModules(worker.modules, found.deployed.modules),
  ...compareSettings(worker, found.deployed),
  ...compareBindings(worker, found.deployed.settings.bindings ?? [], name),
  ...Object.keys(assets)
    .filter(isServed)
    .map((path) => compareFile(path, assets[path]!, found.served.get(path))),
];

const compareVersion = (wanted: string, shown: string | undefined): Result =>
  judge("version", wanted, shown === wanted, `/health shows ${shown ?? "no version"}`);

/** The API shows the script and the settings of one version. */
function compareServing({ serving, newest }: Deployed): Result {
  const isOne = serving.length === 1 && serving[0] === newest;
  const what = serving.length === 1 ? "another version than the newest serves" : `${serving.length} versions serve`;
  return judge("deployment", newest ?? "none", isOne, `${what}, and Cloudflare's API shows the script of the newest`);
}

function compareModules(wanted: Hashes, found: ReadonlyMap<string, string>): Result[] {
  const known = Object.entries(wanted).map(([name, hash]) =>
    found.has(name) ? judge("module", name, found.get(name) === hash) : missing("module", name),
  );
  const others = [...found.keys()].filter((name) => !Object.hasOwn(wanted, name));
  return [...known, ...others.map((name): Result => ({ outcome: "unexpected", kind: "module", name }))];
}

function compareSettings({ compatibilityDate, compatibilityFlags }: Release["worker"], { settings }: Deployed): Result[] {
  const { compatibility_date: date = "", compatibility_flags: flags = [], observability, ...rest } = settings;
  const { logs, others: observed } = splitLogs(observability);
  const others = Object.entries({ ...rest, observability: observed }).filter(
    ([name, value]) => !HARMLESS.has(name) && isSet(value),
  );
  return [
    compareSetting("observability.logs", JSON.stringify(LOGS_KEPT), JSON.stringify(logs)),
    ...others.flatMap(([name, value]) => unexpectedSettings(name, value)),
    compareSetting("compatibility_date", compatibilityDate, date),
    compareSetting("compatibility_flags", compatibilityFlags.toSorted().join(), flags.toSorted().join()),
  ];
}

/** Settings that are compared elsewhere, and settings that do not expose the Worker's work. */
const HARMLESS: ReadonlySet<string> = new Set(
  (
    "bindings compatibility_date compatibility_flags " +
    "annotations limits migration_tag migrations placement placement_mode tags usage_model"
  ).split(" "),
);

/** The logs that a deployment keeps. Logs of invocations have URLs; sampling would drop the line of a failure. */
const LOGS_KEPT = { enabled: true, invocation_logs: false, head_sampling_rate: 1 };

/** Splits a setting into the values that LOGS_KEPT names, and all others. */
function splitLogs(observability: unknown): { logs: object; others: object } {
  const { enabled: _, head_sampling_rate: __, logs = {}, ...others } = (observability ?? {}) as Record<string, any>;
  const { enabled, invocation_logs, head_sampling_rate, persist, ...rest } = logs as Record<string, unknown>;
  return {
    logs: { enabled, invocation_logs, head_sampling_rate, ...(persist === false && { persist }) },
    others: { ...others, logs: rest },
  };
}

/** Settings by which requests and logs are kept or go elsewhere. No release has one. */
const LOGS: ReadonlySet<string> = new Set(["logpush", "observability", "streaming_tail_consumers", "tail_consumers"]);

/** Returns true if a setting has an effect. A setting with `enabled` has one if it or a part of it is on, or if it names destinations. */
function isSet(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== "object" || value === null) return Boolean(value);
  const parts =
    "enabled" in value
      ? [value.enabled, ...Object.values(value).filter((part) => typeof part === "object")]
      : Object.values(value);
  return parts.some(isSet);
}

/** Without the value, which no release has; of Workers by name. */
function unexpectedSettings(name: string, value: unknown): Result[] {
  const detail = LOGS.has(name) ? "it gets the requests and logs of the Worker" : "no release has it";
  const services = Array.isArray(value) ? value.map((one: { readonly service?: unknown } | null) => one?.service) : [];
  const names = services.filter((service) => typeof service === "string").map((service) => `${name}: ${service}`);
  return (names.length > 0 ? names : [name]).map((shown) => ({ outcome: "unexpected", kind: "setting", name: shown, detail }));
}

const compareSetting = (name: string, wanted: string, found: string): Result =>
  judge("setting", name, found === wanted, `${found || "none"} (release: ${wanted || "none"})`);

function compareBindings({ bindings, variables, secrets }: Release["worker"], found: readonly DeployedBinding[], worker: string) {
  const byName = new Map(found.map((binding) => [binding.name, binding]));
  const results = [
    ...bindings.map((wanted) => compareBinding(wanted, byName.get(wanted.name), worker)),
    ...Object.entries(variables).map(([name, value]) => compareVariable(name, value, byName.get(name))),
    ...secrets.required.map((name) => compareSecret(name, byName.get(name))),
    ...secrets.optional.filter((name) => byName.has(name)).map((name) => compareSecret(name, byName.get(name))),
  ];
  const known = new Set(results.map(({ name }) => name));
  const others = found.filter(({ name }) => !known.has(name));
  return [
    ...results,
    ...others.map(({ name, type }): Result => ({ outcome: "unexpected", kind: KINDS[type] ?? "binding", name, detail: type })),
  ];
}

/** The words for types in Cloudflare's API that are not called a binding. */
const KINDS: Readonly<Record<string, Result["kind"]>> = { plain_text: "variable", json: "variable", secret_text: "secret" };

function compareBinding({ name, type, class_name }: ReleaseBinding, found: DeployedBinding | undefined, worker: string): Result {
  if (!found) return missing("binding", name);
  const isOfWorker = found.script_name === undefined || found.script_name === worker;
  if (!isOfWorker)
    return { outcome: "changed", kind: "binding", name, detail: `it runs code of the Worker ${found.script_name}` };
  const shown = [found.type, found.class_name ?? ""].join(" ").trim();
  return judge("binding", name, found.type === type && found.class_name === class_name, shown);
}

function compareVariable(name: string, value: unknown, found: DeployedBinding | undefined): Result {
  if (!found) return missing("variable", name);
  const configured = (detail: string): Result => ({ outcome: "configured", kind: "variable", name, detail });
  const kind = KINDS[found.type];
  if (kind === "secret") return configured("set as a secret, whose value is not shown");
  if (kind !== "variable") return { outcome: "changed", kind: "variable", name, detail: found.type };
  const [shown, wanted] = [found.text ?? found.json, value].map((one) => JSON.stringify(one));
  return shown === wanted ? { outcome: "equal", kind: "variable", name } : configured(`${shown} (release: ${wanted})`);
}

function compareSecret(name: string, found: DeployedBinding | undefined): Result {
  if (!found) return missing("secret", name);
  const isSecret = KINDS[found.type] === "secret";
  return judge("secret", name, isSecret, "it is no secret: whoever reads the settings of the Worker sees its value");
}

function compareFile(path: string, wanted: string, served: Served | undefined): Result {
  if (!served) return missing("file", path);
  if ("sha256" in served) return judge("file", path, served.sha256 === wanted);
  return served.status === 404 ? missing("file", path) : judge("file", path, false, `the answer is ${served.status}`);
}

const missing = (kind: Result["kind"], name: string): Result => ({ outcome: "missing", kind, name });

/** Returns a result. `fault` is the detail if it is not equal. */
const judge = (kind: Result["kind"], name: string, isEqual: boolean, fault?: string): Result =>
  isEqual ? { outcome: "equal", kind, name } : { outcome: "changed", kind, name, ...(fault !== undefined && { detail: fault }) };
