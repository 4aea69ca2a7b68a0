import { useLayoutEffect } from "preact/hooks";
import { NewItemButton } from "./items/new-item.tsx";
import { openPalette } from "./palette/palette.tsx";
import { type ViewGroup, VIEWS, type ViewName } from "./routes.ts";
import { health, refreshHealth } from "./state/health.ts";
import { addressOf, route } from "./state/route.ts";
import { session, nameOfSession } from "./state/session.ts";
import { Icon } from "./ui/icon.tsx";
import { focusView } from "./ui/page.tsx";
import { canOpen, shownView } from "./views.tsx";
import { AdminOffer } from "./grants.tsx";
import { SignOut } from "./sign-out.tsx";
import { chooseLook, type Look, look, LOOKS } from "./ui/look.ts";

/** The navigation: the session's views in two groups, and the account. On a phone it is below the view. */

/** The popover of a phone with all of the navigation. */
const NAVIGATION = "navigation";
/** The popover of a narrow window with the views of the administrator. */
const ADMIN_VIEWS = "admin-views";

export function Navigation() {
  const current = session.value!;
  const adminViews = viewsOf("admin");
  useLayoutEffect(() => {
    if (current.admin) refreshHealth();
  }, [current.admin]);
  return (
    <>
      <button type="button" class="skip" onClick={focusView}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href="#/items">
          <Icon name="vault" />
          <span>Item Vault</span>
        </a>
        <nav id={NAVIGATION} popover="auto" aria-label="Views">
          <ViewLinks names={viewsOf("work")} />
          {current.admin && (
            <button
              type="button"
              class="plain admin-menu"
              popovertarget={ADMIN_VIEWS}
              aria-current={adminViews.includes(currentView()) ? "true" : undefined}
            >
              Admin
              <Icon name="down" />
            </button>
          )}
          <div id={ADMIN_VIEWS} class={current.admin ? "admin-views" : ""} popover={current.admin ? "auto" : undefined}>
            {current.admin && <p class="quiet">Admin</p>}
            <ViewLinks names={adminViews} />
          </div>
          <Account />
        </nav>
      </header>
    </>
  );
}

const viewsOf = (group: ViewGroup): ViewName[] =>
  (Object.keys(VIEWS) as ViewName[]).filter((name) => {
    const view = VIEWS[name];
    return "group" in view && view.group === group && canOpen(name, session.value!);
  });

/** The view that the navigation marks. The deleted Items are one of the lists of Items. */
function currentView(): ViewName {
  const shown = shownView(route.value.view);
  return shown === "deleted" ? "items" : shown;
}

function ViewLinks({ names }: { readonly names: readonly ViewName[] }) {
  const current = currentView();
  return (
    <ul>
      {names.map((name) => (
        <li key={name}>
          <a href={addressOf({ view: name })} aria-current={current === name ? "page" : undefined} onClick={closeMenus}>
            {VIEWS[name].label}
            <Badge view={name} />
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The number of tokens about to expire, or of root keys to replace. A view has the name of the part of /health that counts them. */
function Badge({ view }: { readonly view: ViewName }) {
  const found = health.value?.dependencies.find(({ service }) => service === view);
  if (found?.count === undefined) return null;
  return (
    <span class="badge" title={found.message}>
      <span class="unseen">, </span>
      {found.count.toLocaleString("en")}
      <span class="unseen"> {found.count === 1 ? "needs" : "need"} attention</span>
    </span>
  );
}

// A part of the page that is a popover at one width and none at another would stay above the page.
for (const width of [720, 1000, 1160])
  matchMedia(`(width < ${width}px)`).addEventListener("change", () => {
    for (const open of document.querySelectorAll<HTMLElement>(":popover-open")) open.hidePopover();
  });

/** On a wide screen the parts of the navigation always show, and there is nothing to hide. */
function closeMenus(): void {
  for (const menu of document.querySelectorAll<HTMLElement>(".top :popover-open")) menu.hidePopover();
}

/** On a phone, within reach of the thumb. */
export function BottomBar() {
  const opensItems = canOpen("items", session.value!);
  const isItems = currentView() === "items";
  return (
    <nav class="bottom" aria-label="Quick access">
      {opensItems && (
        <>
          <a href={addressOf({ view: "items" })} aria-current={isItems ? "page" : undefined}>
            <Icon name="items" />
            Items
          </a>
          <NewItemButton class="plain" label />
          <button type="button" class="plain" onClick={openPalette}>
            <Icon name="search" />
            Search
          </button>
        </>
      )}
      <button type="button" class="plain" popovertarget={NAVIGATION} aria-current={isItems ? undefined : "true"}>
        <Icon name="more" />
        More
      </button>
    </nav>
  );
}

/** The menu of the signed-in user: the look of the page, becoming an administrator, and signing out. */

const ACCOUNT = "account";

function Account() {
  const name = nameOfSession(session.value!);
  return (
    <div class="account">
      <button type="button" class="plain" popovertarget={ACCOUNT} title={name}>
        <span class="unseen">Account: </span>
        <span class="name">{name}</span>
        <Icon name="down" />
      </button>
      <div id={ACCOUNT} popover="auto">
        <p class="name" title={name}>
          {name}
        </p>
        <label>
          Theme{" "}
          <select value={look.value} onChange={(event) => chooseLook(event.currentTarget.value as Look)}>
            {Object.entries(LOOKS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <AdminOffer />
        <SignOut />
      </div>
    </div>
  );
}
