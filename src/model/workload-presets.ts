/** The presets of issuers of workload tokens (contract 27.3): where a platform is, and which of its claims name a workload for good. */

/** What a rule permits besides its claims. */
export type Permit = "anyRepository" | "allowSubject";

export interface Preset {
  /** The URL of the issuer that everybody uses: then no other preset goes with it. Absent: each has its own. */
  readonly url?: string;
  /** The claims that each rule needs, as texts that are not empty: ids that their issuer never gives to anything else. */
  readonly required: readonly string[];
  /** Those in their place where the rule has the permit. */
  readonly permitted?: { readonly permit: Permit; readonly required: readonly string[] };
  /** Whether a token can be exchanged only once, unless the issuer says otherwise: not where workloads present one token many times. */
  readonly once: boolean;
}

export type PresetName = "github" | "gitlab" | "buildkite" | "kubernetes" | "generic";

/**
 * The claims are those of the documentation of each issuer: GitHub Actions (docs.github.com/actions/reference/security/oidc), GitLab
 * (docs.gitlab.com/ci/secrets/id_token_authentication), Buildkite (buildkite.com/docs/agent/cli/reference/oidc, where a job has to ask for
 * both with `--claim`) and Kubernetes (bound service account tokens, kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin).
 */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  github: {
    url: "https://token.actions.githubusercontent.com",
    required: ["repository_id", "repository_owner_id"],
    permitted: { permit: "anyRepository", required: ["repository_owner_id"] },
    once: true,
  },
  gitlab: { url: "https://gitlab.com", required: ["project_id", "namespace_id"], once: false },
  buildkite: { url: "https://agent.buildkite.com", required: ["organization_id", "pipeline_id"], once: true },
  kubernetes: { required: ["/kubernetes.io/namespace", "/kubernetes.io/serviceaccount/uid"], once: false },
  generic: { required: [], permitted: { permit: "allowSubject", required: [] }, once: true },
};

export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];

/** The preset of an issuer that names none. A rule without the ids that a known issuer never gives again would match strangers. */
export const presetOf = (url: string): PresetName => PRESET_NAMES.find((name) => PRESETS[name].url === url) ?? "generic";

/** Whether each token of an issuer with the preset can be exchanged only once, unless the issuer says otherwise. */
export const onceByDefault = (preset: PresetName): boolean => PRESETS[preset].once;
