import type { Failure, FailureKind } from "../model/failure.ts";
import { type Refusal, invalid } from "../model/result.ts";
import type { Context } from "./context.ts";

/** The headers and errors of the read API of Vault KV v2 (contract 29), where they differ from the service's own API. */

/**
 * Refuses a request for a namespace, or for a response that is wrapped. An answer that is not wrapped would be logged by a client that takes it for
 * a wrapping token.
 */
export function faultOfKvHeaders(c: Context): Refusal | undefined {
  if (!/^\/?(root\/?)?$/.test(c.req.header("X-Vault-Namespace") ?? ""))
    return invalid("X-Vault-Namespace: there are no namespaces");
  return c.req.header("X-Vault-Wrap-TTL") ? invalid("X-Vault-Wrap-TTL: responses are not wrapped") : undefined;
}

/** Returns the token of a request, given that of `Authorization`. Returns undefined if the headers have none, or two. */
export function kvTokenOf(c: Context, bearer: string | undefined): string | undefined {
  const token = c.req.header("X-Vault-Token");
  if (c.req.header("Authorization") && token && token !== bearer) return undefined;
  return token || bearer;
}

/** Kinds that are answered as another kind, so that an answer does not reveal the difference. */
const ANSWERED_AS: Partial<Readonly<Record<FailureKind, FailureKind>>> = {
  unauthorized: "out_of_scope",
  vault_not_found: "out_of_scope",
  reference_not_found: "item_not_found",
  version_not_found: "item_not_found",
};

export const kvFailure = (failure: Failure): Failure => ({ ...failure, kind: ANSWERED_AS[failure.kind] ?? failure.kind });

const ERRORS: Partial<Readonly<Record<FailureKind, readonly string[]>>> = {
  out_of_scope: ["permission denied"],
  item_not_found: [],
  method_not_allowed: ["read only"],
};

export const kvErrors = (kind: FailureKind, message: string): readonly string[] => ERRORS[kind] ?? [message];
