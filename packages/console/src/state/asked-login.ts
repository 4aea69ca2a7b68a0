import { signal } from "@preact/signals";
import { navigate } from "./route.ts";

/** The login that a program on this computer asks for: the query with which it has opened the console (contract 28.3). */

/** The query as the program wrote it, or "". It is kept in the memory of the page, and not in the address, which the history records. */
export const askedLogin = signal("");

/** Takes the query over when the page was opened at the address of logins. */
export function takeAskedLogin(): void {
  if (location.pathname !== "/console/authorize") return;
  askedLogin.value = location.search;
  history.replaceState(null, "", "/console/");
  navigate({ view: "authorize" }, { replace: true });
}
