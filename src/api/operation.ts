import type { Action, AdminResource } from "../model/activity.ts";
import type { Permission } from "../model/permission.ts";
import type { NarrowAdmin } from "../model/token-kind.ts";

/** An operation of the API, as the router of the service and the OpenAPI document use it. */

/** The callers that a guarded operation serves, and the refusal of other callers. */
export type GuardedAccess =
  /** The holder of ADMIN_TOKEN. `seals`: the root keys are checked first, because the operation seals something new. */
  (
    | {
        readonly by: "admin";
        readonly seals?: true;
        /** Only ADMIN_TOKEN itself, and no token of the admin routes (contract 8.18). */
        readonly secret?: true;
        /** Also the tokens with this attribute (contract 8.19, 8.20). */
        readonly narrow?: NarrowAdmin;
      }
    /**
     * The holder of a token. With a `permission`, the token needs that permission in the vault of the path. Without the
     * permission, the token gets `outside`: 403, or the 404 of an unknown vault where the contract lists no 403 (contract 4.7).
     */
    | {
        readonly by: "token";
        readonly permission?: undefined;
        /** Only a token that may issue others (contract 8.16); the refusal is a 403. */
        readonly delegates?: true;
      }
    | {
        readonly by: "token";
        readonly permission: Permission;
        readonly outside: "out_of_scope" | "vault_not_found";
        /** A token with some Items of the vault only is refused. */
        readonly whole?: true;
      }
    /** A session of the console that acts as a token with the permission. The token itself gets the 403 (contract 24.13). */
    | { readonly by: "session"; readonly permission: Permission; readonly outside: "out_of_scope" }
  ) & {
    /** Only by `Authorization`: a session of the console does not count. */
    readonly direct?: true;
  };

/** Everybody; the holder of METRICS_TOKEN; the console of the same origin. The operation itself checks them. */
export interface OpenAccess {
  readonly by: "everybody" | "metrics" | "console";
  readonly direct?: undefined;
}

export type Access = GuardedAccess | OpenAccess;

/** The attributes of every operation. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path as the router writes it: `/v1/vaults/:vault`. */
  readonly path: string;
  /** True if the request has a JSON body. */
  readonly json?: true;
  /** True if the operation reads `If-Match`. */
  readonly conditional?: true;
  /** True if the operation reads `Item-Id`. */
  readonly identified?: true;
  /** True if the operation reads `Idempotency-Key`. */
  readonly idempotent?: true;
  /**
   * True if `item-vault serve` forwards the operation for a client that has only the secret of `--client-token-file`. Such an
   * operation never returns a credential.
   */
  readonly local?: true;
}

/** An operation that the pipeline serves: authentication, authorization and log are the same for all of them. */
export interface GuardedOperation extends Endpoint {
  readonly access: GuardedAccess;
  /** The action in the activity log. A commit logs its writes itself; the pipeline logs reads and denials. */
  readonly action: Action | "UNLOGGED";
  /** The resource of an operation outside vaults and Items. */
  readonly resource?: AdminResource;
  /** True if the path names a deleted Item. */
  readonly deleted?: true;
  /** True if the operation follows writes. It reads the newest state, whatever the token allows. */
  readonly follows?: true;
}

/** An operation without a guard. It answers even if other parts of the service fail. */
export interface OpenOperation extends Endpoint {
  readonly access: OpenAccess;
}

export type Operation = GuardedOperation | OpenOperation;

/** Returns true if a replica of the database may answer the operation, for a token that allows it (contract 8.12). */
export const isNear = (operation: Operation): boolean =>
  operation.access.by === "token" &&
  "action" in operation &&
  !operation.follows &&
  (operation.method === "GET" || operation.action === "READ");
