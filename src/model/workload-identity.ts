import type { WorkloadKey } from "./workload-keys.ts";
import type { PresetName } from "./workload-presets.ts";
import type { WorkloadRule } from "./workload-rule.ts";

/** The attributes of issuers and rules besides those of every row of `tokens` (contract 27). */

export interface IssuerPolicy {
  /** As in the claim `iss` of its tokens. */
  readonly url: string;
  readonly preset: PresetName;
  /** True if each token can be exchanged only once. Otherwise it can be exchanged `EXCHANGES_MAX` times. */
  readonly once: boolean;
  /** The keys that the admin has given; absent: they are fetched. */
  readonly keys?: readonly WorkloadKey[] | undefined;
}

/** A rule for exchanges of workload tokens or for sign-ins, and the lifetime that it gives. */
export interface RulePolicy extends WorkloadRule {
  /** Seconds of a token, or of the session of a person. */
  readonly lifetime: number;
  /** The rule is for people who sign in (contract 25.13). It permits no exchange of tokens. */
  readonly people?: true | undefined;
}

/** Exchanges of one token, if its issuer does not have `once`. */
export const EXCHANGES_MAX = 20;

/** The keys of an issuer as its row has them. Times are Unix milliseconds; 0: never. */
export interface StoredKeys {
  readonly keys: readonly WorkloadKey[];
  /** Start of the request that fetched the keys. */
  readonly fetchedAt: number;
  /** Start of the last request for keys, even if it failed. */
  readonly triedAt: number;
}
