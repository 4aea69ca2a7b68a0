import { LIMITS } from "./limits.ts";
import { fail, invalid, type Refusal } from "./result.ts";
import { contains, type Scope } from "./vault-scope.ts";

/** Delegation: a token issues tokens with at most its own permissions (contract 8.16). */

/** The permissions of a token that it can pass on. */
export interface Grant {
  readonly vaults: Scope;
  /** Seconds; absent: its reads are never old. */
  readonly stale?: number | undefined;
}

/**
 * Refuses a child token with more permissions than its parent. The lifetime is compared elsewhere, where a repeated request is
 * answered. `depth` is the number of tokens above the child. Returns undefined if the child is allowed. Fails with
 * `out_of_scope`, which names the first vault with more permissions, or with `invalid`.
 */
export function refuseMore(
  parent: Grant,
  child: Grant & { readonly delegate?: true | undefined },
  depth: number,
): Refusal | undefined {
  const vault = Object.keys(child.vaults).find((id) => !contains(parent.vaults[id], child.vaults[id]!));
  if (vault !== undefined) return fail("out_of_scope", `pass on this permission in vault ${vault}, which it does not have`);
  if ((child.stale ?? 0) > (parent.stale ?? 0)) return invalid("the token: stale is more than that of the token of the request");
  if (child.delegate && depth >= LIMITS.tokenDepth)
    return invalid(`the token: delegate is not possible with ${LIMITS.tokenDepth} tokens above`);
  return undefined;
}
