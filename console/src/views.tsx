import type { ComponentType } from "preact";
import { ItemsView } from "./items/items-view.tsx";
import type { ViewName } from "./routes.ts";
import { lazy } from "./ui/lazy.tsx";

/** What shows each view. All but the first are loaded when they are opened. */
export const VIEW_COMPONENTS: Partial<Readonly<Record<ViewName, ComponentType>>> = {
  items: ItemsView,
  import: lazy(() => import("./import/import-view.tsx").then(({ ImportView }) => ImportView)),
  activity: lazy(() => import("./activity/activity-view.tsx").then(({ ActivityView }) => ActivityView)),
  health: lazy(() => import("./health/health-view.tsx").then(({ HealthView }) => HealthView)),
};
