import type { Locator, Page } from "playwright-core";
import { inject } from "vitest";
import { sendRequest } from "../../sdk/support/requests.ts";
import { fetchAsPage } from "./faults.ts";
import { openPage, type PageOptions } from "./page.ts";
import { type NewItem, seed, type Seeded, type SeedOptions } from "./seed.ts";
import { signIn } from "./session.ts";

/** What a person does and sees in the console, by roles and labels. */

type Place = Page | Locator;
/** A text is the whole name. */
type Name = string | RegExp;

export const button = (place: Place, name: Name): Locator => place.getByRole("button", { name, exact: true });
export const link = (place: Place, name: Name): Locator => place.getByRole("link", { name, exact: true });
export const heading = (place: Place, name: Name): Locator => place.getByRole("heading", { name, exact: true });
export const labelled = (place: Place, label: Name): Locator => place.getByLabel(label, { exact: true });
export const dialogOf = (page: Page, name?: Name): Locator => page.getByRole("dialog", name === undefined ? {} : { name });
/** Rows of the list of Items, or of deleted ones. */
export const listed = (page: Page, title?: string): Locator =>
  page.locator(".rows").getByRole("link", title === undefined ? {} : { name: title });
export const toast = (page: Page, text: Name): Locator => page.locator(".toast", { hasText: text });
export const views = (page: Page): Locator => page.getByRole("navigation", { name: "Views" });
export const titleField = (page: Page): Locator => page.getByRole("textbox", { name: "Title", exact: true });
export const endedDialog = (page: Page): Locator => dialogOf(page, "Your session has ended");

/** Presses buttons, one after the other. */
export async function press(place: Place, ...names: readonly Name[]): Promise<void> {
  for (const name of names) await button(place, name).click();
}

/** Presses buttons of the dialog. */
export const confirm = (page: Page, ...names: readonly Name[]): Promise<void> => press(dialogOf(page), ...names);

/** Chooses an action in the menu of the open Item, and presses buttons of its dialog. */
export async function choose(page: Page, action: string, ...names: readonly string[]): Promise<void> {
  await press(page, "More actions", action);
  await confirm(page, ...names);
}

export async function pressKeys(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** Waits for texts. */
export async function see(place: Place, ...texts: readonly Name[]): Promise<void> {
  for (const text of texts) await place.getByText(text).waitFor();
}

/** Types into fields, by their labels. A field that is true or false is a box to check, and of a list an option is chosen. */
export async function fill(place: Place, values: Readonly<Record<string, string | boolean>>): Promise<void> {
  for (const [label, value] of Object.entries(values)) {
    // The label of a list has the texts of its options too.
    const field = labelled(place, label).or(place.getByRole("combobox", { name: label, exact: true }));
    if (typeof value === "boolean") await field.setChecked(value);
    else if (await field.evaluate((element) => element.localName === "select")) await field.selectOption(value);
    else await field.fill(value);
  }
}

/** Types a title, and saves the form. */
export async function saveTitle(page: Page, title: string): Promise<void> {
  await titleField(page).fill(title);
  await press(page, "Save");
}

/** What has the focus, as a screen reader names it. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate("(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()");

export const htmlOf = (page: Page): Promise<string> => page.evaluate("document.documentElement.outerHTML");

/** Ends the session of the page, which does not notice. */
export const endSession = (page: Page): Promise<unknown> =>
  page.evaluate(`fetch("/console/session", { method: "DELETE", headers: { "Item-Vault-Console": "1" } })`);

/** Signs in again where the page asks for it. */
export async function signInAgain(page: Page, token: string): Promise<void> {
  await endedDialog(page).getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
}

/** Lets the page get another body than the service answers. `path`: a pattern of Playwright, or the whole path. */
export const changeAnswers = (page: Page, path: string | RegExp, change: (body: any) => unknown): Promise<unknown> =>
  page.route(typeof path === "string" && !path.includes("*") ? (url) => url.pathname === path : path, async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    const response = await fetchAsPage(route);
    return route.fulfill({ response, json: change(await response.json()) });
  });

/** An Item, as far as tests read it. */
export interface Stored {
  readonly id: string;
  readonly title: string;
  readonly version: number;
  readonly favorite: boolean;
  readonly state?: string;
  readonly lastEditedBy: string;
  readonly tags: readonly string[];
  readonly urls: readonly object[];
  readonly sections: readonly { readonly id: string; readonly label: string }[];
  readonly fields: readonly {
    readonly id: string;
    readonly label: string;
    readonly type: string;
    readonly value: string;
    readonly purpose: string;
    readonly section?: { readonly id: string };
  }[];
}

/** A page of a session with the token of a vault, and what the service has of its first Item. */
export interface Shown extends Seeded {
  readonly page: Page;
  /** The first Item in the API. */
  readonly path: string;
  /** The address of the first Item in the console. */
  readonly address: string;
  readonly load: () => Promise<Stored>;
  /** Replaces parts of it, as another client: `{ "/title": "Theirs" }`. */
  readonly patch: (values: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly remove: () => Promise<unknown>;
  /** The titles of the vault. */
  readonly titles: () => Promise<string[]>;
}

export function shown(page: Page, seeded: Seeded): Shown {
  const { vault, items, token } = seeded;
  const path = `v1/vaults/${vault}/items/${items[0]}`;
  return {
    ...seeded,
    page,
    path,
    address: `/console/#/items/${vault}/${items[0]}`,
    load: () => sendRequest("GET", path, token) as Promise<Stored>,
    patch: (values) =>
      sendRequest(
        "PATCH",
        path,
        token,
        Object.entries(values).map(([at, value]) => ({ op: "replace", path: at, value })),
      ),
    remove: () => sendRequest("DELETE", path, token),
    titles: () => titlesOf(token, vault),
  };
}

export const titlesOf = async (token: string, vault: string): Promise<string[]> =>
  ((await sendRequest("GET", `v1/vaults/${vault}/items`, token)) as Stored[]).map(({ title }) => title).toSorted();

interface OpenOptions extends PageOptions, SeedOptions {
  /** Before the page is opened, for example to inject a fault. */
  readonly before?: (page: Page) => unknown;
  /** A tab of the Item, or `edit`. */
  readonly tab?: string;
}

const open = async (items: readonly NewItem[], { before, ...options }: OpenOptions): Promise<Shown> => {
  const seeded = await seed(items, options);
  const page = await openPage({ token: seeded.token, ...options });
  await before?.(page);
  return shown(page, seeded);
};

/** Opens the list of a new vault with these Items. */
export async function openList(items: readonly NewItem[], options: OpenOptions = {}): Promise<Shown> {
  const opened = await open(items, options);
  await opened.page.goto("/console/");
  await (items.length === 0 ? opened.page.getByText("No items yet.") : listed(opened.page, items[0]!.title).first()).waitFor();
  return opened;
}

/** Opens the first Item of a new vault with these Items. */
export async function openItem(items: readonly NewItem[], { tab, ...options }: OpenOptions = {}): Promise<Shown> {
  const opened = await open(items, options);
  await opened.page.goto(tab === undefined ? opened.address : `${opened.address}/${tab}`);
  await (tab === "edit" ? titleField(opened.page) : opened.page.getByRole("heading", { name: items[0]!.title }))
    .first()
    .waitFor();
  return opened;
}

/** Opens a view with the session of a token, by default ADMIN_TOKEN. */
export async function openView(view: string, { before, ...options }: OpenOptions = {}): Promise<Page> {
  const page = await openPage({ token: inject("secrets").ADMIN_TOKEN, ...options });
  await before?.(page);
  await page.goto(`/console/#/${view}`);
  await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" });
  return page;
}

/** Opens a view with a session of a token and of the administrator. */
export async function openAsBoth(token: string, view: string, { before, ...options }: OpenOptions = {}): Promise<Page> {
  const page = await openPage(options);
  await before?.(page);
  await signIn(page, token, inject("secrets").ADMIN_TOKEN);
  await page.goto(`/console/#/${view}`);
  return page;
}
