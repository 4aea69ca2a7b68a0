import type { ComponentType } from "preact";
import type { ItemPage } from "../routes.ts";
import { lazy } from "../ui/lazy.tsx";

/** What is shown of an Item in place of the Item itself, by the last part of the address. */
export const ITEM_PAGES: Partial<Readonly<Record<ItemPage, ComponentType>>> = {
  edit: lazy(() => import("../edit/pages.tsx").then(({ EditPage }) => EditPage)),
  new: lazy(() => import("../edit/pages.tsx").then(({ NewPage }) => NewPage)),
  versions: lazy(() => import("../history/versions-page.tsx").then(({ VersionsPage }) => VersionsPage)),
};
