/** The presets of issuers of workload tokens (contract 27.3): where a platform is, and which of its claims name a workload for good. */

/** What a rule permits besides its claims. */
export type Permit = "anyRepository" | "allowSubject";

export interface Preset {
  /** The URL of the issuer that everybody uses. Absent: each has its own. */
  readonly url?: string;
  /** The URLs of issuers of this platform only: no other preset goes with them. */
  readonly issuers?: RegExp;
  /** The claims that each rule needs, as texts that are not empty: ids that their issuer never gives to anything else. */
  readonly required: readonly string[];
  /** Those in their place where the rule has the permit. */
  readonly permitted?: { readonly permit: Permit; readonly required: readonly string[] };
  /** Whether a token can be exchanged only once, unless the issuer says otherwise: not where workloads present one token many times. */
  readonly once: boolean;
}

export type PresetName = "github" | "gitlab" | "buildkite" | "kubernetes" | "generic";

/** Returns the pattern of URLs that begin so: `*` is a label of the host, `**` is any host. */
const issuersAt = (...places: readonly string[]): RegExp =>
  new RegExp(`^https://(${places.join("|").replaceAll(".", "\\.").replaceAll("**", "[^/]+").replaceAll("*", "[^./]+")})([:/]|$)`);

/**
 * The claims are those of the documentation of each issuer: GitHub Actions (docs.github.com/actions/reference/security/oidc), GitLab
 * (docs.gitlab.com/ci/secrets/id_token_authentication), Buildkite (buildkite.com/docs/agent/cli/reference/oidc, where a job has to ask for
 * both with `--claim`) and Kubernetes (bound service account tokens, kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin).
 * GitHub's issuers are also those of an enterprise: with its name in the path, on GHE.com, and of GitHub Enterprise Server.
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

/** The preset of an issuer that names none. A rule without the ids that a known issuer never gives again would match strangers. */
export const presetOf = (url: string): PresetName => PRESET_NAMES.find((name) => PRESETS[name].issuers?.test(url)) ?? "generic";

/** Whether each token of an issuer with the preset can be exchanged only once, unless the issuer says otherwise. */
export const onceByDefault = (preset: PresetName): boolean => PRESETS[preset].once;
