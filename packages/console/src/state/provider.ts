import type { SignIn } from "@item-vault/client";
import { signal } from "@preact/signals";
import { parseRoute } from "../routes.ts";
import { callUnchecked } from "./client.ts";
import { navigate } from "./route.ts";

/** The sign-in at the identity provider, which is a page of its own (contract 25.12). */

/** The query with which a program on this computer asks for a login (contract 28.3), or "". The address does not keep it, because of the history. */
export const askedLogin = signal("");

/** Takes the query over when the page was opened at the address of logins. */
export function takeAskedLogin(): void {
  if (location.pathname !== "/console/authorize") return;
  askedLogin.value = location.search;
  history.replaceState(null, "", "/console/");
  navigate({ view: "authorize" }, { replace: true });
}

/** True if the service has an identity provider for people. */
export const providerOffered = signal(false);

/** The address to which the provider sends the browser back. Opened without an answer, it begins a sign-in. */
const ADDRESS = "/console/sign-in";

/** Goes to the provider. Behind a colon, `state` carries the place in the console to which the person returns. Throws an ItemVaultError. */
export async function goToProvider(): Promise<void> {
  const url = new URL((await callUnchecked("POST /console/sign-ins")).data.url);
  url.searchParams.set("state", `${url.searchParams.get("state")}:${askedLogin.value || location.hash}`);
  location.assign(url);
}

/** The way in which the page was opened: without a sign-in, at its beginning, with the provider's answer, or with its refusal. */
export type Opened = "console" | "begin" | "refused" | SignIn;

/** Takes the answer out of the address, so that the history does not have the code, and goes to the place where the sign-in began. */
export function takeAnswer(): Opened {
  if (location.pathname !== ADDRESS) return "console";
  const given = new URLSearchParams(location.search);
  const [code, iss] = [given.get("code"), given.get("iss")];
  const [, state = "", place = ""] = /^([^:]*):?(.*)$/.exec(given.get("state") ?? "") ?? [];
  history.replaceState(null, "", "/console/");
  if (place.startsWith("?")) askedLogin.value = place;
  navigate(place.startsWith("?") ? { view: "authorize" } : parseRoute(place), { replace: true });
  if (given.has("error")) return "refused";
  return code === null ? "begin" : { code, state, ...(iss !== null && { iss }) };
}
