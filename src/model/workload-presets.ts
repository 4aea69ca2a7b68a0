/** The presets of issuers of workload tokens (contract 27.3): the URLs of a platform, and the claims that identify a workload permanently. */

/** A permission of a rule, besides its claims. */
export type Permit = "anyRepository" | "allowSubject";

export interface Preset {
  /** The URL of the issuer that everybody uses. Absent: each has its own. */
  readonly url?: string;
  /** The URLs of issuers of this platform only: no other preset goes with them. */
  readonly issuers?: RegExp;
  /** The claims that each rule needs, as texts that are not empty: ids that their issuer never gives to anything else. */
  readonly required: readonly string[];
  /** The required claims of a rule with the permit, in place of `required`. */
  readonly permitted?: { readonly permit: Permit; readonly required: readonly string[] };
  /** True if a token can be exchanged only once by default. False where workloads present one token many times. */
  readonly once: boolean;
}

export type PresetName = "github" | "gitlab" | "buildkite" | "kubernetes" | "generic";

/** Returns the pattern of URLs with this beginning: `*` is a label of the host, `**` is any host. */
const issuersAt = (...places: readonly string[]): RegExp =>
  new RegExp(`^https://(${places.join("|").replaceAll(".", "\\.").replaceAll("**", "[^/]+").replaceAll("*", "[^./]+")})([:/]|$)`);

/**
 * The claims come from the documentation of each issuer:
 * - GitHub Actions (docs.github.com/actions/reference/security/oidc);
 * - GitLab (docs.gitlab.com/ci/secrets/id_token_authentication);
 * - Buildkite (buildkite.com/docs/agent/cli/reference/oidc), where a job has to ask for both with `--claim`;
 * - Kubernetes (bound service account tokens, kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin).
 *
 * GitHub's issuers include enterprises: with the name in the path, on GHE.com, and of GitHub Enterprise Server.
 */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  github: {
    url: "https://token.actions.githubusercontent.com",
    issuers: issuersAt("token.actions.githubusercontent.com", "token.actions.*.ghe.com", "**/_services/token"),
    required: ["repository_id", "repository_owner_id"],
    permitted: { permit: "anyRepository", required: ["repository_owner_id"] },
    once: true,
  },
  gitlab: {
    url: "https://gitlab.com",
    issuers: issuersAt("gitlab.com", "*.gitlab-dedicated.com"),
    required: ["project_id", "namespace_id"],
    once: false,
  },
  buildkite: {
    url: "https://agent.buildkite.com",
    issuers: issuersAt("agent.buildkite.com"),
    required: ["organization_id", "pipeline_id"],
    once: true,
  },
  kubernetes: {
    issuers: issuersAt(
      "oidc.eks.*.amazonaws.com",
      "oidc.eks.*.amazonaws.com.cn",
      "oidc-eks.*.api.aws",
      "container.googleapis.com/v1/projects",
      "*.oic.prod-aks.azure.com",
      "kubernetes.default",
      "kubernetes.default.svc",
      "kubernetes.default.svc.**",
    ),
    required: ["/kubernetes.io/namespace", "/kubernetes.io/serviceaccount/uid"],
    once: false,
  },
  generic: { required: [], permitted: { permit: "allowSubject", required: [] }, once: true },
};

export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[];

/**
 * Returns the preset of an issuer that names none. A known issuer gets its own preset, because a rule without its permanent ids
 * would match strangers.
 */
export const presetOf = (url: string): PresetName => PRESET_NAMES.find((name) => PRESETS[name].issuers?.test(url)) ?? "generic";

/** Returns true if tokens of an issuer with the preset can be exchanged only once by default. */
export const onceByDefault = (preset: PresetName): boolean => PRESETS[preset].once;
