import { LIMITS } from "./limits.ts";
import { fail, invalid, type Refusal } from "./result.ts";
import { contains, type Scope } from "./vault-scope.ts";

/** What a token passes on to a token that it issues (contract 8.16): never more than it has. */

/** What a token has that can be passed on. */
export interface Grant {
  readonly vaults: Scope;
  /** Seconds; absent: its reads are never old. */
  readonly stale?: number | undefined;
}

/**
 * Whether one token contains another one, but for its lifetime, which is compared where a repeated request is answered. In: whether the
 * other one may issue tokens, and how many are above it. Out: `undefined` when it does. Errors: `out_of_scope`, which names the first vault
 * in which the other one may do more; `invalid`.
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
