import type { WorkloadKey } from "./workload-keys.ts";
import type { PresetName } from "./workload-presets.ts";
import type { WorkloadRule } from "./workload-rule.ts";

/** What the rows of issuers and rules have besides what every row of `tokens` has (contract 27). */

/** An issuer of workload tokens. */
export interface IssuerPolicy {
  /** As `iss` in its tokens. */
  readonly url: string;
  readonly preset: PresetName;
  /** Whether each of its tokens is exchanged once; otherwise at most `EXCHANGES_MAX` times. */
  readonly once: boolean;
  /** The keys that the admin has given; absent: they are fetched. */
  readonly keys?: readonly WorkloadKey[] | undefined;
}

/** Which workload tokens are exchanged, or who signs in, and for how long. */
export interface RulePolicy extends WorkloadRule {
  /** Seconds of a token, or of the session of a person. */
  readonly lifetime: number;
  /** The rule is for people who sign in (contract 25.13): no token is exchanged by it. */
  readonly people?: true | undefined;
}

/** How often a token of an issuer without `once` is exchanged. */
export const EXCHANGES_MAX = 20;

/** The keys of an issuer as its row has them. Times are Unix milliseconds; 0: never. */
export interface StoredKeys {
  readonly keys: readonly WorkloadKey[];
  /** When the request began that has fetched the keys. */
  readonly fetchedAt: number;
  /** When the last request for keys began, whatever came of it. */
  readonly triedAt: number;
}
