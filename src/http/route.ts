import type { AnswerBody } from "../api/answer.ts";
import type { KvOperationId } from "../api/doors.ts";
import type { GuardedOperation, OpenOperation } from "../api/operation.ts";
import type { OperationId } from "../api/operations.ts";
import type { VerifiedClaims } from "../crypto/token.ts";
import type { Action } from "../model/activity.ts";
import type { Dialect } from "../model/dialect.ts";
import type { Precondition } from "../model/item.ts";
import type { Scope } from "../model/permission.ts";
import type { Query } from "../model/query.ts";
import { ok, type Result } from "../model/result.ts";
import type { Entry } from "../requests/read-entries.ts";
import type { Store } from "../store/d1/database.ts";
import type { Context } from "./context.ts";

/** A route is an operation with its handler (app.ts). pipeline.ts serves every route in the same way. */

/** The sender of a request. */
export interface Caller {
  readonly c: Context;
  readonly store: Store;
  /** The actor: the token's id, the rule of a workload's token, or `admin`. */
  readonly actor: string;
  /** The claims of the token; `NO_CLAIMS` for the admin. */
  readonly claims: VerifiedClaims;
  readonly dialect: Dialect;
  /** The scope of the token. */
  readonly vaults: Scope;
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
  readonly issuer: string;
  readonly rule: string;
  readonly job: string;
}

/** A request of an authorized caller, from which the route parses its input. */
export interface ParseCall extends Caller, Target {
  readonly query: Query;
  /** Only on conditional routes. Absent too if it is malformed: the pipeline refuses that after the route has parsed. */
  readonly ifMatch: Precondition | undefined;
  /** The id that the client has chosen for a new Item. Only on routes that read `Item-Id`; absent too when it is malformed. */
  readonly chosenId: string | undefined;
  /** Only on routes with a JSON body. */
  readonly body: { readonly bytes: Uint8Array; readonly json: unknown } | undefined;
}

/** A request with all its parts. */
export interface Call extends ParseCall {
  /** Only on idempotent routes. Keys of two owners with the same text are different keys (contract 10.8). */
  readonly idempotencyKey: { readonly owner: string; readonly text: string } | undefined;
}

/** The content of a successful answer: JSON, or a response that is complete, such as a stream, a 204 or a 304. */
export type Content<Body> =
  | {
      readonly json: Body;
      /** Absent: 200. */
      readonly status?: 202;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly response: Response };

/** A successful answer, with the data for its log entry. */
export type Reply<Body = unknown> = Content<Body> & {
  /** The version of the Item that was read. */
  readonly version?: number;
  /** True if a part of the answer could not be decrypted. A near read then asks the primary. */
  readonly broken?: boolean;
  /** Replaces the action of the route: an empty PATCH only reads. */
  readonly action?: Action | "UNLOGGED";
  /** The id of the vault, token, webhook, person or job that an admin route made. */
  readonly made?: string;
  /** The entries of a request that reads Items of several vaults, instead of the path's entry. */
  readonly entries?: readonly Entry[];
};

/** The outcome of a request to an operation. The body has the type in the document. */
export type ReplyTo<Id extends OperationId> = Promise<Result<Reply<AnswerBody<Id>>>>;

/** Returns the response with a content. */
export const respond = (c: Context, content: Content<unknown>): Response =>
  "response" in content ? content.response : c.json(content.json, content.status, content.headers);

/** Serves a guarded operation. */
export interface Handler<Body = unknown, Input = unknown> {
  /** Parses the input of the operation. A refusal is answered after the store's refusals (contract 4). */
  parse(call: ParseCall): Result<Input>;
  /** Returns the number that a request counts in its token's rate limit. Absent: one. */
  requests?(input: Input): number;
  handle(call: Call, input: Input): Promise<Result<Reply<Body>>>;
}

/** Checks a handler against the input of its own parser. */
export const serveBy = <Body, Input>(handler: Handler<Body, Input>): Handler<Body> => handler;

/** Serves an operation whose input is only its path. */
export type PathHandler<Body = unknown> = (call: Call) => Promise<Result<Reply<Body>>>;

export const servePath = (handle: PathHandler): Handler => ({ parse: () => ok(undefined), handle });

/** Serves an operation without a guard. */
export type OpenHandler<Body = unknown> = (c: Context) => Promise<Result<Content<Body>>>;

/** `id`: the operationId of the document, or that of an operation of another API. */
type Identified = { readonly id: OperationId | KvOperationId };
export type Route = GuardedOperation & Handler & Identified;
export type OpenRoute = OpenOperation & Identified & { readonly open: OpenHandler };
