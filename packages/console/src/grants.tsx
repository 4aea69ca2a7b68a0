import { signal } from "@preact/signals";
import { session } from "./state/session.ts";
import { Button } from "./ui/button.tsx";

/** Adds a grant to the session: an admin opens vaults with a token, or a token holder becomes an admin. */

export type Grant = "admin" | "token";

/** The grant requested by the open dialog. */
export const askedGrant = signal<Grant | undefined>(undefined);

export const askFor = (grant: Grant): void => void (askedGrant.value = grant);

export const AdminOffer = () =>
  session.value?.admin === false && <Button text="Sign in as admin" onClick={() => askFor("admin")} />;
