import { readFile } from "node:fs/promises";
import { LIMITS } from "@item-vault/model/limits";
import { isPermission } from "@item-vault/model/permission";
import { NARROW_ADMIN_NAMES } from "@item-vault/model/token-kind";
import { usableKeys } from "@item-vault/model/workload-keys";
import { onceByDefault, type PresetName, presetOf } from "@item-vault/model/workload-presets";
import { DURATION, secondsOf } from "../frame/duration.ts";
import { CliError } from "../frame/failure.ts";
import { unreadable } from "../frame/paths.ts";

/** The file of `apply`: YAML, of which JSON is a part. An attribute that the file leaves out has its default. */

/** The kinds of things, in the order in which they are made: a later one may name an earlier one. */
export const KINDS = ["vault", "issuer", "rule", "token", "person", "webhook"] as const;

export type Kind = (typeof KINDS)[number];

export type Attributes = Readonly<Record<string, any>>;

/** A thing of the file. Its attributes are those of the API, with names of vaults and issuers in place of ids, and times in seconds. */
export interface Wanted {
  readonly kind: Kind;
  readonly name: string;
  /** The name before, under which the service may have the thing. */
  readonly was: string | undefined;
  /** The name of the vault of a webhook. */
  readonly vault: string | undefined;
  readonly attributes: Attributes;
}

export interface ApplyFile {
  /** The name of the set: the `managedBy` of things that the file makes. */
  readonly name: string;
  readonly things: readonly Wanted[];
}

/** Returns the fault of a value, in words without the value. */
type Check = (value: unknown) => string | undefined;

interface Attribute {
  readonly check: Check;
  /** Returns the value with which two things are compared. Absent: they are compared without the attribute. */
  readonly normal?: (value: any, given: Attributes) => unknown;
}

const isObject = (value: unknown): value is Attributes =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.getPrototypeOf(value) === Object.prototype;

const check =
  (isFine: (value: unknown) => boolean, fault: string): Check =>
  (value) =>
    isFine(value) ? undefined : fault;

const object = check(isObject, "is not a map");
const text = check((value) => typeof value === "string" && value !== "", "is not a text");
const anyText = check((value) => typeof value === "string", "is not a text");
const time = check((value) => typeof value === "string" && DURATION.test(value), "is not a time such as 90d, 12h or 30m");
/** Private keys are no usable keys. */
const jwks = check(
  (value) => isObject(value) && Array.isArray(value["keys"]) && usableKeys(value["keys"]).length === value["keys"].length,
  "is not a JWK set of public keys",
);
const isScope = (one: unknown): boolean => isPermission(one) || (isObject(one) && isPermission(one["permissions"]));

const of = (checked: Check, standard?: unknown): Attribute => ({ check: checked, normal: (value) => value ?? standard });
const flag = of(
  check((value) => typeof value === "boolean", "is not true or false"),
  false,
);
const dialect = of(text, "uuid");
const vaultsOf = (isFine: (one: unknown) => boolean): Attribute =>
  of(
    check((value) => isObject(value) && Object.values(value).every(isFine), "is not a map of vaults to permissions"),
    {},
  );

const QUOTA = { items: LIMITS.vaultItems, bytes: LIMITS.vaultBytes, fileBytes: LIMITS.vaultFileBytes };
const presetIn = ({ issuer, preset = presetOf(issuer) }: Attributes): PresetName => preset;

/** How a kind is written in the file. The service checks the rest of each value. */
interface Form {
  readonly section: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly required?: readonly string[];
}

export const FORMS: Readonly<Record<Kind, Form>> = {
  vault: {
    section: "vaults",
    attributes: {
      was: { check: text },
      description: of(anyText, ""),
      quota: {
        check: object,
        normal: (value = {}) => ({ ...QUOTA, ...Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null)) }),
      },
      webhooks: { check: object },
    },
  },
  issuer: {
    section: "issuers",
    attributes: {
      issuer: of(text),
      preset: { check: text, normal: (_, given) => presetIn(given) },
      once: { ...flag, normal: (value, given) => value ?? onceByDefault(presetIn(given)) },
      jwks: { check: jwks, normal: (value) => value && { keys: usableKeys(value.keys) } },
    },
    required: ["issuer"],
  },
  rule: {
    section: "rules",
    attributes: {
      issuer: of(text),
      claims: of(object),
      vaults: vaultsOf(isScope),
      lifetime: {
        check: time,
        normal: (value, { people }) => value ?? (people ? LIMITS.ruleLifetime : LIMITS.ruleLifetimeDefault),
      },
      dialect,
      ...Object.fromEntries(["anyRepository", "allowSubject", "people", "admin"].map((name) => [name, flag])),
    },
    required: ["issuer", "claims"],
  },
  token: {
    section: "tokens",
    attributes: {
      vaults: vaultsOf(isScope),
      dialect,
      stale: of(time),
      expiresIn: { check: time },
      ...Object.fromEntries(["delegate", "binding", ...NARROW_ADMIN_NAMES].map((name) => [name, flag])),
    },
  },
  // A person admitted by a rule always differs from the file, and `apply` changes that (contract 25.4).
  person: { section: "people", attributes: { vaults: vaultsOf(isPermission), admin: flag, rule: of(() => "is unknown") } },
  webhook: {
    section: "webhooks",
    attributes: { was: { check: text }, enabled: { ...flag, normal: (value = true) => value } },
  },
};

/** Returns true for an attribute that is a time, which the API has in seconds. */
export const isTime = (kind: Kind, name: string): boolean => FORMS[kind].attributes[name]?.check === time;

/** Returns the attributes with which two things are compared, with the defaults of the service. */
export const normalOf = (kind: Kind, given: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(FORMS[kind].attributes).flatMap(([name, { normal }]) => (normal ? [[name, normal(given[name], given)]] : [])),
  );

/** Names that people give to secrets. */
const SECRET = /secret|token|passw|credential|private|^(?:key|value|jwt)s?$/i;

/** Reads and checks a file. Throws a CliError with the path of the first fault, never with a value. */
export async function readApplyFile(path: string): Promise<ApplyFile> {
  const { parseYaml } = await import("../output/yaml.ts");
  const parsed = parseYaml(await readFile(path, "utf8").catch(unreadable(path)));
  if ("fault" in parsed) throw new CliError(`${path}: ${parsed.fault}`, { exit: "usage" });
  const refuse = (place: string, fault: string): never => {
    throw new CliError(`${path}: ${place}: ${fault}`, { exit: "usage" });
  };
  const checkMap = (place: string, value: unknown, known: Form["attributes"], required: readonly string[] = []): Attributes => {
    const given = value ?? {};
    if (!isObject(given)) return refuse(place, "is not a map");
    const inside = (name: string) => (place === "the file" ? name : `${place}.${name}`);
    for (const [name, one] of Object.entries(given)) {
      if (!Object.hasOwn(known, name))
        refuse(inside(name), SECRET.test(name) ? "looks like a secret: a file has none, and --out gets new ones" : "is unknown");
      const fault = known[name]!.check(one);
      if (fault !== undefined) refuse(inside(name), fault);
    }
    for (const name of required) if (!Object.hasOwn(given, name)) refuse(inside(name), "is missing");
    return given;
  };
  const thingsOf = (kind: Kind, entries: Attributes, place: string, vault?: string): Wanted[] =>
    Object.entries(entries).flatMap(([written, value]) => {
      const where = `${place}.${written}`;
      const { was, webhooks = {}, ...given } = checkMap(where, value, FORMS[kind].attributes, FORMS[kind].required);
      const name = nameOf(kind, written) ?? refuse(where, "is not a name");
      const before = was === undefined ? undefined : nameOf(kind, was);
      const isTaken = Object.hasOwn(entries, was) || Object.values(entries).some((one) => one !== value && one?.was === was);
      if (was !== undefined && isTaken) refuse(`${where}.was`, "is a name of the file");
      const attributes = Object.fromEntries(
        Object.entries(given).map(([one, each]) => [one, isTime(kind, one) ? secondsOf(one, each) : each]),
      );
      return [{ kind, name, was: before, vault, attributes } as Wanted].concat(
        thingsOf("webhook", webhooks, `${where}.webhooks`, name),
      );
    });
  const sections = KINDS.filter((kind) => kind !== "webhook").map((kind) => [kind, FORMS[kind].section] as const);
  const head = { version: of(check((one) => one === 1, "is not 1")), name: of(text) };
  const maps = Object.fromEntries(sections.map(([, section]) => [section, of(object)]));
  const file = checkMap("the file", parsed.value, { ...head, ...maps }, ["version", "name"]);
  const things = sections.flatMap(([kind, section]) => thingsOf(kind, file[section] ?? {}, section));
  const twice = [...Map.groupBy(things, ({ kind, vault, name }) => JSON.stringify([kind, vault, name])).values()].find(
    ({ length }) => length > 1,
  );
  if (twice) refuse(FORMS[twice[0]!.kind].section, "has one name in two spellings");
  return { name: file["name"], things };
}

/** Returns a name as the service stores it, or undefined for a text that is none. */
function nameOf(kind: Kind, written: string): string | undefined {
  if (kind === "person") return written.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (kind === "webhook") return URL.canParse(written) ? new URL(written).href : undefined;
  return written === "" ? undefined : written;
}
