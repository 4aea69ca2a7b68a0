import type { ComponentType } from "preact";
import { ItemsView } from "./items/items-view.tsx";
import type { ViewName } from "./routes.ts";
import { lazy } from "./ui/lazy.tsx";

/** The component of each view. All but the first are loaded when they are opened. */
export const VIEW_COMPONENTS: Partial<Readonly<Record<ViewName, ComponentType>>> = {
  items: ItemsView,
  deleted: lazy(() => import("./deleted/deleted-view.tsx"), "DeletedView"),
  passwords: lazy(() => import("./passwords/passwords-view.tsx"), "PasswordsView"),
  vaults: lazy(() => import("./admin/vaults-view.tsx"), "VaultsView"),
  tokens: lazy(() => import("./admin/tokens-view.tsx"), "TokensView"),
  people: lazy(() => import("./admin/people-view.tsx"), "PeopleView"),
  workloads: lazy(() => import("./admin/workloads-view.tsx"), "WorkloadsView"),
  webhooks: lazy(() => import("./operations/webhooks-view.tsx"), "WebhooksView"),
  backups: lazy(() => import("./operations/backups-view.tsx"), "BackupsView"),
  keys: lazy(() => import("./operations/backups-view.tsx"), "KeysView"),
  import: lazy(() => import("./import/import-view.tsx"), "ImportView"),
  activity: lazy(() => import("./activity/activity-view.tsx"), "ActivityView"),
  authorize: lazy(() => import("./login/authorize-view.tsx"), "AuthorizeView"),
  terminal: lazy(() => import("./login/terminal-view.tsx"), "TerminalView"),
  health: lazy(() => import("./health/health-view.tsx"), "HealthView"),
};
