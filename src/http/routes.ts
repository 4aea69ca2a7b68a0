import type { AnswerBody } from "../api/answer.ts";
import type { OpenAccess } from "../api/operation.ts";
import { type OperationId, OPERATIONS } from "../api/operations.ts";
import * as endpoints from "./endpoints.ts";
import { type Handler, type OpenHandler, type OpenRoute, type PathHandler, type Route, servePath } from "./route.ts";

/** The handlers of the operations of the API (src/api/operations.ts). An endpoint exports each handler under the operation's id. */

type OpenId = {
  readonly [Id in OperationId]: (typeof OPERATIONS)[Id]["access"] extends OpenAccess ? Id : never;
}[OperationId];
type GuardedId = Exclude<OperationId, OpenId>;

type Handlers = { readonly [Id in OpenId]: OpenHandler<AnswerBody<Id>> } & {
  readonly [Id in GuardedId]: Handler<AnswerBody<Id>> | PathHandler<AnswerBody<Id>>;
};

const HANDLERS: Handlers = endpoints;

const ids = Object.keys(OPERATIONS) as OperationId[];
const isGuarded = (id: OperationId): id is GuardedId => "action" in OPERATIONS[id];

/** The routes that the pipeline serves. */
export const ROUTES: readonly Route[] = ids.flatMap((id) => {
  if (!isGuarded(id)) return [];
  const handler: Handler | PathHandler = HANDLERS[id];
  return [{ id, ...OPERATIONS[id], ...(typeof handler === "function" ? servePath(handler) : handler) }];
});

/** The routes without a guard. */
export const OPEN_ROUTES: readonly OpenRoute[] = ids.flatMap((id) =>
  isGuarded(id) ? [] : [{ id, ...OPERATIONS[id], open: HANDLERS[id] }],
);
