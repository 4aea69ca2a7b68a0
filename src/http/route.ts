import type { VerifiedClaims } from "../crypto/token.ts";
import type { Action, AdminResource } from "../model/activity.ts";
import type { Dialect } from "../model/dialect.ts";
import type { Precondition } from "../model/item.ts";
import type { Permission } from "../model/permission.ts";
import type { Query } from "../model/query.ts";
import { ok, type Result } from "../model/result.ts";
import type { Store } from "../store/d1/database.ts";
import type { Entry } from "../requests/entries.ts";
import type { Context } from "./context.ts";

/** A route is a row of the table in routes.ts; pipeline.ts serves every row in the same way. */

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The callers that may use a route, and the refusal of the others. */
export type Access =
  /** The holder of ADMIN_TOKEN. `seals`: the root keys are checked first, because the route seals something new. */
  (
    | { readonly by: "admin"; readonly seals?: true }
    /**
     * The holder of a token. With a permission, the token needs it in the vault of the path; a token without it gets
     * `outside`: 403, or on the routes for which the contract lists no 403 the 404 of a vault that does not exist.
     */
    | { readonly by: "token"; readonly permission?: undefined }
    | { readonly by: "token"; readonly permission: Permission; readonly outside: "out_of_scope" | "vault_not_found" }
  ) & {
    /** Only by `Authorization`: a session of the console does not count. */
    readonly direct?: true;
  };

/** Who sent a request. */
export interface Caller {
  readonly c: Context;
  readonly store: Store;
  /** The token's id, or `admin`. */
  readonly actor: string;
  /** The claims of the token; `NO_CLAIMS` for the admin. */
  readonly claims: VerifiedClaims;
  readonly dialect: Dialect;
  /** The permissions of the token, by vault id. */
  readonly vaults: Readonly<Record<string, Permission>>;
}

/** The ids in the path: canonical UUIDs, or texts that name nothing; empty where the path has none. */
export interface Target {
  readonly vault: string;
  readonly item: string;
  readonly file: string;
  readonly token: string;
  /** The number of a version; 0 where the path has none. */
  readonly version: number;
  readonly webhook: string;
  readonly person: string;
  readonly job: string;
}

/** A request of an authorized caller, from which the route parses its input. */
export interface ParseCall extends Caller, Target {
  readonly query: Query;
  /** Only on conditional routes. Absent too when it is malformed: the pipeline refuses that after the route has parsed. */
  readonly ifMatch: Precondition | undefined;
  /** The id that the client has chosen for a new Item. Only on routes that read `Item-Id`; absent too when it is malformed. */
  readonly chosenId: string | undefined;
  /** Only on routes with a JSON body. */
  readonly body: { readonly bytes: Uint8Array; readonly json: unknown } | undefined;
}

/** A request with all its parts. */
export interface Call extends ParseCall {
  /** Only on idempotent routes. */
  readonly idempotencyKey: string | undefined;
}

/** A successful answer, and what the log has to know of it. */
export interface Reply {
  readonly response: Response;
  /** The version of the Item that was read. */
  readonly version?: number;
  /** Replaces the action of the route: an empty PATCH only reads. */
  readonly action?: Action | "UNLOGGED";
  /** The id of the vault, token, webhook, person or job that an admin route made. */
  readonly made?: string;
  /** The entries of a request that reads Items of several vaults, instead of the one of the path. */
  readonly entries?: readonly Entry[];
}

export interface Route<Input = unknown> {
  readonly method: Method;
  readonly path: string;
  readonly access: Access;
  /** The action in the activity log. A commit logs its writes itself; the pipeline logs reads and denials. */
  readonly action: Action | "UNLOGGED";
  /** What an admin route is about. Absent: vaults. */
  readonly resource?: AdminResource;
  /** Whether the Item of the path is a deleted one. */
  readonly deleted?: true;
  /** Whether the request has a JSON body. */
  readonly json?: true;
  /** Whether the route reads `If-Match`. */
  readonly conditional?: true;
  /** Whether the route reads `Item-Id`. */
  readonly identified?: true;
  /** Whether the route reads `Idempotency-Key`. */
  readonly idempotent?: true;
  /** Parses what is particular to the route. A refusal is answered after those of the store (contract 4). */
  parse(call: ParseCall): Result<Input>;
  handle(call: Call, input: Input): Promise<Result<Reply>>;
}

/** Checks a row of the table against the types of its own parser and handler. */
export const row = <Input>(route: Route<Input>): Route => route;

/** The parser of a route that reads nothing but its path. */
export const parse = () => ok(undefined);

/** A route without a guard: it answers whatever else is broken. */
export interface OpenRoute {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  open(c: Context): Promise<Result<Response>>;
}
