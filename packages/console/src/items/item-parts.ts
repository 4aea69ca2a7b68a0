import type { ComponentType } from "preact";
import type { Opened } from "../state/opened.ts";
import { lazy } from "../ui/lazy.tsx";
import { EditAction, FavoriteAction, VersionsAction } from "./actions.tsx";
import { Details } from "./details.tsx";
import { MoreActions } from "./more-actions.tsx";
import { Urls } from "./urls.tsx";

/** The parts of an Item besides its title and fields. */

export type Part = ComponentType<{ readonly opened: Opened }>;

const Files = lazy<{ readonly opened: Opened }>(() => import("../files/files.tsx").then((module) => module.Files));

/** The buttons below the title, in their order. */
export const ITEM_ACTIONS: readonly Part[] = [EditAction, FavoriteAction, VersionsAction, MoreActions];

/** The parts below the fields, in their order. */
export const ITEM_PARTS: readonly Part[] = [Urls, Files, Details];
