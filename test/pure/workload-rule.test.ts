import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/strict-json.ts";
import { parseValue } from "../../src/model/text.ts";
import { onceByDefault, PRESET_NAMES, type PresetName, presetOf, PRESETS } from "../../src/model/workload-presets.ts";
import {
  type ClaimValue,
  failedClaims,
  RULE_LIMITS,
  type RuleClaims,
  ruleClaims,
  ruleFault,
} from "../../src/model/workload-rule.ts";
import { CHARACTER } from "../support/characters.ts";
import { runs } from "../support/runs.ts";

/** The rules of workload identity: what a rule may have, and which tokens it matches (contract 27.3). */

const UID = "a709ef71-30e2-489a-bd19-ade97031b9db";

/** Claims of a rule for each preset, of which none can be left out. */
const LEAST: Readonly<Record<PresetName, RuleClaims>> = {
  github: { repository_id: "74", repository_owner_id: "65" },
  gitlab: { project_id: "22", namespace_id: "72" },
  buildkite: { organization_id: UID, pipeline_id: UID },
  kubernetes: { "/kubernetes.io/namespace": "prod", "/kubernetes.io/serviceaccount/uid": UID },
  generic: { team: "a" },
};

const without = (claims: RuleClaims, name: string): RuleClaims =>
  Object.fromEntries(Object.entries(claims).filter(([one]) => one !== name));

const presets = PRESET_NAMES.map((preset) => [preset, LEAST[preset]] as const);

describe("a rule of a preset", () => {
  it.each(presets)("%s is allowed with the claims that the preset needs, and with more", (preset, claims) => {
    expect(ruleFault(preset, { claims })).toBeUndefined();
    expect(ruleFault(preset, { claims: { ...claims, sub: "x", ref: "refs/heads/main", ref_protected: true } })).toBeUndefined();
  });

  it.each(presets)("%s is refused without one of them, whatever else it has", (preset, claims) => {
    for (const name of Object.keys(claims))
      for (const others of [{}, { sub: "x" }, { iss: "x", aud: "y", jti: "z", exp: 1, iat: 1, nbf: 1 }] as RuleClaims[])
        expect(ruleFault(preset, { claims: { ...without(claims, name), ...others } })).toMatchObject({ attribute: "claims" });
  });

  it.each(presets.filter(([preset]) => preset !== "generic"))(
    "%s is refused where one of them could match no token of the issuer: it is no text, or empty",
    (preset, claims) => {
      for (const name of Object.keys(claims))
        for (const value of ["", 1, true])
          expect(ruleFault(preset, { claims: { ...claims, [name]: value } })).toMatchObject({ attribute: "claims" });
    },
  );

  it("has the permits of that preset only", () => {
    const allowed = PRESET_NAMES.flatMap((preset) =>
      (["anyRepository", "allowSubject"] as const)
        .filter((permit) => ruleFault(preset, { claims: LEAST[preset], [permit]: true })?.attribute !== permit)
        .map((permit) => `${preset} ${permit}`),
    );
    // A rule for any repository that names one is refused as well (below).
    expect(allowed).toEqual(["generic allowSubject"]);
    for (const preset of PRESET_NAMES)
      expect(ruleFault(preset, { claims: LEAST[preset], anyRepository: false, allowSubject: false })).toBeUndefined();
  });

  it("is refused without a quotation of its values", () => {
    for (const preset of PRESET_NAMES)
      for (const claims of [{ canary: "canary" }, { sub: "canary" }, { repository_id: "canary" }] as RuleClaims[])
        expect(JSON.stringify(ruleFault(preset, { claims }) ?? "")).not.toContain("canary");
  });
});

describe("a rule of GitHub for any repository", () => {
  const claims = { repository_owner_id: "65" };

  it("needs the id of the owner, and the permit", () => {
    expect(ruleFault("github", { claims, anyRepository: true })).toBeUndefined();
    expect(ruleFault("github", { claims })?.fault).toContain("repository_id");
    expect(ruleFault("github", { claims: { repository_owner: "octo" }, anyRepository: true })?.fault).toContain(
      "repository_owner_id",
    );
  });

  it("names no repository", () => {
    for (const name of ["repository_id", "/repository_id"])
      expect(ruleFault("github", { claims: { ...claims, [name]: "74" }, anyRepository: true })?.attribute).toBe("anyRepository");
  });
});

describe("a rule of the preset generic", () => {
  it.each(["sub", "/sub", "/sub/a"])("may have %s as its only claim about the workload with the permit only", (name) => {
    for (const others of [{}, { iss: "https://a.com", aud: "b" }] as RuleClaims[]) {
      const claims = { [name]: "x", ...others };
      expect(ruleFault("generic", { claims })?.fault).toContain("sub");
      expect(ruleFault("generic", { claims, allowSubject: true })).toBeUndefined();
    }
  });

  const NOBODY = [
    "iss",
    "aud",
    "exp",
    "nbf",
    "iat",
    "jti",
    "azp",
    "client_id",
    "email_verified",
    "nonce",
    "auth_time",
    "acr",
    "scope",
    "tid",
    "runner_environment",
    "event_name",
  ];
  it.each(NOBODY)("needs a claim besides %s, which names nobody, whatever its permit", (name) => {
    for (const written of [name, `/${name}`, `/${name}/0`])
      for (const allowSubject of [true, false])
        expect(ruleFault("generic", { claims: { [written]: "x" }, allowSubject })?.attribute).toBe("claims");
  });

  it("needs a claim with a value that is neither true nor false, because these name nobody", () => {
    for (const name of ["email_verified", "/email_verified", "/address/verified", "https://acme.com/verified", "sub"])
      for (const value of [true, false, "true", "false"])
        expect(ruleFault("generic", { claims: { [name]: value }, allowSubject: true })?.attribute).toBe("claims");
    expect(ruleFault("generic", { claims: { team: "a", email_verified: true } })).toBeUndefined();
  });

  it("needs the permit for sub beside claims that name nobody", () => {
    const claims = { sub: "x", azp: "y", email_verified: true };
    expect(ruleFault("generic", { claims })?.fault).toContain("sub");
    expect(ruleFault("generic", { claims, allowSubject: true })).toBeUndefined();
  });

  it.each([
    ["github", "https://token.actions.githubusercontent.com"],
    ["github", "https://token.actions.githubusercontent.com/"],
    ["github", "https://token.actions.githubusercontent.com/acme-corp"],
    ["github", "https://token.actions.acme.ghe.com"],
    ["github", "https://token.actions.acme.ghe.com/acme"],
    ["github", "https://github.acme.com/_services/token"],
    ["github", "https://10.1.2.3:8443/_services/token/acme"],
    ["gitlab", "https://gitlab.com/"],
    ["gitlab", "https://acme.gitlab-dedicated.com"],
    ["buildkite", "https://agent.buildkite.com/"],
    ["kubernetes", "https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"],
    ["kubernetes", "https://oidc-eks.eu-central-1.api.aws/id/EXAMPLED539D4633E53DE1B71EXAMPLE"],
    ["kubernetes", "https://container.googleapis.com/v1/projects/acme/locations/europe-west1/clusters/one"],
    ["kubernetes", "https://westeurope.oic.prod-aks.azure.com/8f5f6a52/72c6/"],
    ["kubernetes", "https://kubernetes.default.svc"],
    ["kubernetes", "https://kubernetes.default.svc.cluster.local"],
    ["generic", "https://issuer.example.com"],
    ["generic", "https://token.actions.githubusercontent.com.example.com"],
    ["generic", "https://token.actions.a.b.ghe.com"],
    ["generic", "https://example.com/token.actions.githubusercontent.com"],
    ["generic", "https://example.com/a/_services/token"],
    ["generic", "https://example.com/_services/tokens"],
    ["generic", "https://storage.googleapis.com/v1/projects"],
  ])("is not that of an issuer of another platform, which is known by its origin: %s %s", (preset, url) => {
    expect(presetOf(url)).toBe(preset);
  });

  it("is not that of the issuer that everybody uses of a platform", () => {
    const known = PRESET_NAMES.filter((name) => PRESETS[name].url !== undefined);
    expect(known.map((name) => presetOf(PRESETS[name].url!))).toEqual(known);
  });
});

describe("a token", () => {
  it("is exchanged once, except those of issuers whose workloads present one many times", () => {
    expect(PRESET_NAMES.filter((preset) => !onceByDefault(preset))).toEqual(["gitlab", "kubernetes"]);
  });
});

const parse = (claims: unknown) => parseValue(ruleClaims, claims, "claims");
const wordingOf = (claims: unknown): string => {
  const parsed = parse(claims);
  return parsed.ok ? "accepted" : parsed.failure.detail!;
};
const many = (count: number): RuleClaims => Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, "v"]));

describe("the claims of a rule in a request", () => {
  it.each([
    ["a name", { repository_id: "74" }],
    ["a name with a slash in it", { "https://example.com/team": "a" }],
    ["a name with a colon in it", { "agent_tag:queue": "default" }],
    ["a pointer", { "/kubernetes.io/namespace": "prod" }],
    ["a pointer to a name with a slash", { "/https:~1~1example.com~1team": "a" }],
    ["values of each type", { a: "", b: 0, c: -1, d: true, e: false, f: 2 ** 53 - 1 }],
    ["text of any script", { équipe: "ä*😀" }],
    ["as many as there may be", many(RULE_LIMITS.claims)],
    ["as long as they may be", { ["n".repeat(RULE_LIMITS.name)]: "v".repeat(RULE_LIMITS.value) }],
  ])("are accepted as they are: %s", (_, claims) => {
    expect(parse(claims)).toEqual({ ok: true, value: claims });
  });

  it.each<readonly [string, unknown]>([
    ["claims: is missing", undefined],
    ["claims: is not an object", null],
    ["claims: is not an object", []],
    ["claims: is not an object", "a"],
    ["claims: is empty", {}],
    ["claims: has more than 32 claims", many(RULE_LIMITS.claims + 1)],
    ["claims: has an empty name of a claim", { "": "a" }],
    ["claims: has a name that is longer than 255 bytes", { ["é".repeat(128)]: "a" }],
    ["claims: has a name that is no JSON pointer, although it begins with /", { "/a~2": "a" }],
    ["claims: has a name that is no JSON pointer, although it begins with /", { "/~": "a" }],
    ["claims: has a name that holds half of a surrogate pair", { "\ud800": "a" }],
    ["claims: has a value that holds half of a surrogate pair", { a: "\udc00" }],
    ["claims: has a value that is longer than 1024 bytes", { a: "é".repeat(513) }],
    ["claims: names a claim twice", { sub: "a", "/sub": "a" }],
    ["claims: names a claim twice", { "a/b": "a", "/a~1b": "a" }],
    ...[null, undefined, [], ["a"], {}, 1.5, 2 ** 53, -(2 ** 53), Infinity, Number.NaN].map(
      (value) => ["claims: has a value that is neither a string, nor an integer, nor true or false", { a: value }] as const,
    ),
  ])("are refused with the words: %s (%#)", (words, claims) => {
    expect(wordingOf(claims)).toBe(words);
  });

  it("keep a name that objects inherit, as JSON has it", () => {
    const claims: unknown = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    const parsed = parse(claims);
    expect(parsed.ok && Object.entries(parsed.value)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });
});

const escape = (token: string) => token.replaceAll("~", "~0").replaceAll("/", "~1");

/** Every scalar of a payload, by its pointer. */
const leavesOf = (value: unknown, path = ""): [string, ClaimValue][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, one]) => leavesOf(one, `${path}/${escape(name)}`))
    : value === null
      ? []
      : [[path, value as ClaimValue]];

const scalar = fc.oneof(
  fc.string({ unit: CHARACTER, maxLength: 8 }),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constantFrom("1", "true", "", "*", 1, 0),
);
const name = fc.oneof(
  fc.string({ unit: CHARACTER, maxLength: 6 }),
  fc.constantFrom("__proto__", "constructor", "toString", "length", "0", "a/b", "~", "~1", "", "kubernetes.io"),
);
const payload: fc.Arbitrary<JsonObject> = fc
  .letrec<{ value: unknown; object: JsonObject }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, scalar, fc.constant(null), fc.array(tie("value"), { maxLength: 3 }), tie("object")),
    object: fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
  }))
  .object.map((object) => JSON.parse(JSON.stringify(object)) as JsonObject);

const other = (value: ClaimValue): ClaimValue[] =>
  typeof value === "string"
    ? [`${value} `, `${value}*`, "*", Number(value || "1"), value.toUpperCase() + "x"]
    : [String(value), typeof value === "number" ? value + 1 : !value];

describe("the claims that a payload fails", () => {
  it("are none where each claim of the rule has its value in the payload", () => {
    fc.assert(
      fc.property(payload, (object) => {
        expect(failedClaims({ claims: Object.fromEntries(leavesOf(object)) }, object)).toEqual([]);
      }),
      { numRuns: runs(500, 100_000) },
    );
  });

  it("are those with another value or of another type", () => {
    fc.assert(
      fc.property(payload, fc.nat(), fc.nat(), (object, which, how) => {
        const leaves = leavesOf(object);
        const changed = leaves[which % Math.max(leaves.length, 1)];
        fc.pre(changed !== undefined);
        const wrong = other(changed[1]).filter((value) => !Object.is(value, changed[1]));
        const claims = { ...Object.fromEntries(leaves), [changed[0]]: wrong[how % wrong.length]! };
        expect(failedClaims({ claims }, object)).toEqual([changed[0]]);
      }),
      { numRuns: runs(500, 100_000) },
    );
  });

  it("are those that the payload lacks, also by names that every object or list has", () => {
    const inherited = [Object.prototype, Array.prototype, String.prototype].flatMap((one) => Object.getOwnPropertyNames(one));
    const names = [
      "absent",
      "/absent",
      "/a/b",
      "/list/2",
      "/list/-",
      "/list/01",
      "/list/-1",
      "/list/length",
      "/text/0",
      "/text/length",
    ];
    for (const one of [
      ...names,
      ...inherited.flatMap((own) => [own, `/${own}`, `/list/${own}`, `/object/${own}`, `/text/${own}`]),
    ])
      for (const value of ["", "x", 0, 1, 2, true, false])
        expect(failedClaims({ claims: { [one]: value } }, { list: ["x", 2], object: {}, text: "x", none: null })).toEqual([one]);
  });

  it("are those that only the prototype of an object has", () => {
    const bare = Object.create({ admin: true }) as JsonObject;
    expect(failedClaims({ claims: { admin: true } }, bare)).toEqual(["admin"]);
    expect(failedClaims({ claims: { "/a/admin": true } }, { a: bare })).toEqual(["/a/admin"]);
  });

  it("compare by the JSON of the token, also under the name __proto__", () => {
    const object = JSON.parse('{"__proto__": {"admin": true}, "a": {"__proto__": "x"}}') as JsonObject;
    const claims = { "/__proto__/admin": true, "/a/__proto__": "x" };
    expect(failedClaims({ claims }, object)).toEqual([]);
    expect(failedClaims({ claims: { admin: true } }, object)).toEqual(["admin"]);
  });

  it("are none for a token of Kubernetes that has the namespace and the account of the rule", () => {
    const token = {
      aud: ["https://vault.example.com"],
      iss: "https://kubernetes.default.svc.cluster.local",
      "kubernetes.io": { namespace: "prod", pod: { name: "a", uid: "b" }, serviceaccount: { name: "app", uid: UID } },
      sub: "system:serviceaccount:prod:app",
    };
    expect(failedClaims({ claims: LEAST.kubernetes }, token)).toEqual([]);
    const elsewhere = { ...token, "kubernetes.io": { ...token["kubernetes.io"], namespace: "dev" } };
    expect(failedClaims({ claims: LEAST.kubernetes }, elsewhere)).toEqual(["/kubernetes.io/namespace"]);
    const flat = { "kubernetes.io/namespace": "prod", "/kubernetes.io/namespace": "prod" };
    expect(failedClaims({ claims: LEAST.kubernetes }, flat)).toEqual(Object.keys(LEAST.kubernetes));
  });
});
