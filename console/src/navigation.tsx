import { AdminOffer } from "./grants.tsx";
import { formatRoute, VIEWS, type ViewName } from "./routes.ts";
import { route } from "./state/route.ts";
import { SignOut } from "./sign-out.tsx";
import { nameOfSession, session } from "./state/session.ts";
import { Icon } from "./ui/icon.tsx";
import { canOpen, shownView } from "./views.tsx";

/** The navigation: the views that the session may open, who is signed in, and signing out. */

export function Navigation() {
  const current = session.value!;
  const shown = shownView(route.value.view);
  const names = (Object.keys(VIEWS) as ViewName[]).filter((name) => !("hidden" in VIEWS[name]) && canOpen(name, current));
  return (
    <header class="top">
      <a class="brand" href="#/items">
        <Icon name="vault" />
        Item Vault
      </a>
      <button type="button" class="plain menu" popovertarget="navigation" aria-label="Menu">
        <Icon name="menu" />
      </button>
      <nav id="navigation" popover="auto" aria-label="Views">
        {names.map((name) => (
          <a key={name} href={formatRoute({ view: name })} aria-current={shown === name ? "page" : undefined} onClick={closeMenu}>
            {VIEWS[name].label}
          </a>
        ))}
        <p class="who">
          <span class="quiet" title={nameOfSession(current)}>
            {nameOfSession(current)}
          </span>
          <AdminOffer />
          <SignOut />
        </p>
      </nav>
    </header>
  );
}

/** On a narrow screen the navigation is a popover; on a wide one it always shows, and there is nothing to hide. */
const closeMenu = () => document.getElementById("navigation")?.hidePopover();
