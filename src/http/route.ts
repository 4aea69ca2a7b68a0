import type { VerifiedClaims } from "../crypto/token.ts";
import type { GuardedOperation, OpenOperation } from "../../contract/operation.ts";
import type { Action } from "../model/activity.ts";
import type { Dialect } from "../model/dialect.ts";
import type { Precondition } from "../model/item.ts";
import type { Permission } from "../model/permission.ts";
import type { Query } from "../model/query.ts";
import { ok, type Result } from "../model/result.ts";
import type { Store } from "../store/d1/database.ts";
import type { Entry } from "../requests/entries.ts";
import type { Context } from "./context.ts";

/** A route is an operation with what serves it (routes.ts); pipeline.ts serves every route in the same way. */

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

/** What serves a guarded operation. */
export interface Handler<Input = unknown> {
  /** Parses what is particular to the operation. A refusal is answered after those of the store (contract 4). */
  parse(call: ParseCall): Result<Input>;
  handle(call: Call, input: Input): Promise<Result<Reply>>;
}

/** Checks a handler against the input of its own parser. */
export const serveBy = <Input>(handler: Handler<Input>): Handler => handler;

/** The handler of an operation that reads nothing but its path. */
export const servePath = (handle: (call: Call) => Promise<Result<Reply>>): Handler => ({ parse: () => ok(undefined), handle });

/** Serves an operation without a guard. */
export type OpenHandler = (c: Context) => Promise<Result<Response>>;

export type Route = GuardedOperation & Handler;
export type OpenRoute = OpenOperation & { readonly open: OpenHandler };
