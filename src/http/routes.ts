import type { AnswerBody } from "../api/answer.ts";
import type { OpenAccess } from "../api/operation.ts";
import { type OperationId, OPERATIONS } from "../api/operations.ts";
import * as activityExport from "./endpoints/activity.ts";
import * as activity from "./endpoints/activity.ts";
import * as adminBackupObjects from "./endpoints/admin-backup-objects.ts";
import * as adminBackups from "./endpoints/admin-backups.ts";
import * as adminIssuers from "./endpoints/admin-issuers.ts";
import * as adminJobs from "./endpoints/admin-jobs.ts";
import * as adminKeys from "./endpoints/admin-keys.ts";
import * as adminPeople from "./endpoints/admin-people.ts";
import * as adminRules from "./endpoints/admin-rules.ts";
import * as adminTokens from "./endpoints/admin-tokens.ts";
import * as adminVaults from "./endpoints/admin-vaults.ts";
import * as adminWebhooks from "./endpoints/admin-webhooks.ts";
import * as allEvents from "./endpoints/all-events.ts";
import * as childTokens from "./endpoints/child-tokens.ts";
import * as deletedItems from "./endpoints/deleted-items.ts";
import * as events from "./endpoints/events.ts";
import * as fileWrites from "./endpoints/file-writes.ts";
import * as files from "./endpoints/files.ts";
import * as health from "./endpoints/health.ts";
import * as itemList from "./endpoints/item-list.ts";
import * as items from "./endpoints/items.ts";
import * as login from "./endpoints/login.ts";
import * as loginConfirmation from "./endpoints/login.ts";
import * as metrics from "./endpoints/metrics.ts";
import * as resolve from "./endpoints/resolve.ts";
import * as session from "./endpoints/session.ts";
import * as signInPerson from "./endpoints/sign-in-person.ts";
import * as signIn from "./endpoints/sign-in.ts";
import * as tokenExchange from "./endpoints/token-exchange.ts";
import * as token from "./endpoints/child-tokens.ts";
import * as vaults from "./endpoints/vaults.ts";
import * as versions from "./endpoints/versions.ts";
import { type Handler, type OpenHandler, type OpenRoute, type PathHandler, type Route, servePath } from "./route.ts";

/** The handlers of the operations of the API (src/api/operations.ts). An endpoint exports each handler under the operation's id. */

type OpenId = {
  readonly [Id in OperationId]: (typeof OPERATIONS)[Id]["access"] extends OpenAccess ? Id : never;
}[OperationId];
type GuardedId = Exclude<OperationId, OpenId>;

type Handlers = { readonly [Id in OpenId]: OpenHandler<AnswerBody<Id>> } & {
  readonly [Id in GuardedId]: Handler<AnswerBody<Id>> | PathHandler<AnswerBody<Id>>;
};

const HANDLERS: Handlers = {
  ...activityExport,
  ...activity,
  ...adminBackupObjects,
  ...adminBackups,
  ...adminIssuers,
  ...adminJobs,
  ...adminKeys,
  ...adminPeople,
  ...adminRules,
  ...adminTokens,
  ...adminVaults,
  ...adminWebhooks,
  ...allEvents,
  ...childTokens,
  ...deletedItems,
  ...events,
  ...fileWrites,
  ...files,
  ...health,
  ...itemList,
  ...items,
  ...login,
  ...loginConfirmation,
  ...metrics,
  ...resolve,
  ...session,
  ...signIn,
  ...signInPerson,
  ...token,
  ...tokenExchange,
  ...vaults,
  ...versions,
};

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
