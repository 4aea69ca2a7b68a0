import type { PresetName } from "@item-vault/model/workload-presets";

/** The presets of issuers, for people. */
export const PRESET_LABELS: Readonly<Record<PresetName, string>> = {
  github: "GitHub Actions",
  gitlab: "GitLab CI",
  buildkite: "Buildkite",
  kubernetes: "Kubernetes",
  generic: "Another platform",
};
