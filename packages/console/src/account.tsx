import { AdminOffer } from "./grants.tsx";
import { SignOut } from "./sign-out.tsx";
import { nameOfSession, session } from "./state/session.ts";
import { Icon } from "./ui/icon.tsx";
import { chooseLook, type Look, look, LOOKS } from "./ui/look.ts";

/** The menu of who is signed in: the look of the page, becoming an administrator, and signing out. */

const ACCOUNT = "account";

export function Account() {
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
