import type { Category, Permission } from "@item-vault/client";

/** The addresses of the views: the fragment of the URL. It holds ids only, because browsers keep it in their history. */

export type ViewName = keyof typeof VIEWS;

/** The grant of the session that a view needs. */
type Need = "token" | "admin" | "any";

export interface ViewRow {
  readonly label: string;
  /** The icon in the sidebar, or the category whose icon it has. */
  readonly icon?: "bin" | "download" | "vault";
  readonly category?: Category;
  readonly needs: Need;
  /** What a token needs in a vault for the view; `whole`: not for some of its Items only. Without it, the view is not offered. */
  readonly permission?: Permission;
  readonly whole?: true;
  /** The ids that may follow the name in the address, in their order. */
  readonly parts: readonly ("vault" | "item" | "page")[];
  /** The group of the sidebar that links to it. Absent: an address or a list leads to it. */
  readonly group?: ViewGroup;
}

export type ViewGroup = "items" | "tools" | "admin";

/** The table of views, in the order of the sidebar. */
export const VIEWS = {
  items: { label: "Items", needs: "token", parts: ["vault", "item", "page"] },
  deleted: { label: "Deleted items", icon: "bin", group: "items", needs: "token", permission: "rw", parts: ["vault", "item"] },
  import: { label: "Import", icon: "download", group: "tools", needs: "token", permission: "rw", whole: true, parts: [] },
  passwords: { label: "Password check", category: "PASSWORD", group: "tools", needs: "token", permission: "r", parts: [] },
  vaults: { label: "Vaults", icon: "vault", group: "admin", needs: "admin", parts: [] },
  tokens: { label: "Tokens", category: "API_CREDENTIAL", group: "admin", needs: "admin", parts: [] },
  people: { label: "People", category: "IDENTITY", group: "admin", needs: "admin", parts: [] },
  workloads: { label: "Workloads", category: "SERVER", group: "admin", needs: "admin", parts: [] },
  webhooks: { label: "Webhooks", category: "WIRELESS_ROUTER", group: "admin", needs: "admin", parts: [] },
  backups: { label: "Backups", category: "DATABASE", group: "admin", needs: "admin", parts: [] },
  keys: { label: "Keys", category: "LOGIN", group: "admin", needs: "admin", parts: [] },
  activity: { label: "Activity", category: "SECURE_NOTE", group: "tools", needs: "any", parts: [] },
  health: { label: "Health", category: "MEDICAL_RECORD", group: "admin", needs: "any", parts: [] },
  authorize: { label: "Log in at the terminal", needs: "any", parts: [] },
  terminal: { label: "Connect a terminal", needs: "any", parts: [] },
} as const satisfies Readonly<Record<string, ViewRow>>;

/**
 * A place in the console. `page` is a page or tab of an Item; absent: its details. `list` is the key of the list of Items next to it
 * (`state/chosen-list.ts`); absent: the list of all.
 */
export interface Route {
  readonly view: ViewName;
  readonly vault?: string | undefined;
  readonly item?: string | undefined;
  readonly page?: ItemPage | undefined;
  readonly list?: string | undefined;
}

/** The tabs of an Item besides its details, which have the address of the Item itself. */
export const ITEM_TABS = { history: "History", access: "Access", activity: "Activity", use: "Use" } as const;
export type ItemTab = keyof typeof ITEM_TABS;
export type ItemPage = ItemTab | "edit" | "new";

export const isTab = (page: string | undefined): page is ItemTab => page !== undefined && Object.hasOwn(ITEM_TABS, page);

const LIST = /^[\w.-]{1,80}$/;

const isView = (name: string): name is ViewName => Object.hasOwn(VIEWS, name);
const isPage = (name: string | undefined): name is ItemPage => isTab(name) || name === "edit" || name === "new";

/** Parses a fragment such as `#/items/<vault>/<item>/edit?list=favorites`. An unknown address is that of the Items. */
export function parseRoute(hash: string): Route {
  const [path = "", query] = hash.replace(/^#?\/?/, "").split("?");
  const [name = "", ...ids] = path.split("/");
  if (!isView(name)) return { view: "items" };
  const parts: readonly string[] = VIEWS[name].parts;
  const [vault, item, page] = parts.map((_, index) => (/^[\w-]{1,64}$/.test(ids[index] ?? "") ? ids[index] : undefined));
  const list = new URLSearchParams(query).get("list") ?? "";
  return { view: name, vault, item, page: isPage(page) ? page : undefined, list: LIST.test(list) ? list : undefined };
}

/** The fragment of a place. */
export const formatRoute = ({ view, vault, item, page, list }: Route): string =>
  `#/${[view, vault, item, page].filter((part) => part !== undefined).join("/")}${list === undefined ? "" : `?list=${list}`}`;
