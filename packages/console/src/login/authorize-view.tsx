import { call } from "../api/client.ts";
import { askedLogin } from "../state/asked-login.ts";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Page } from "../ui/page.tsx";
import { type Asked, parseAsked, targetOf } from "./asked.ts";
import { Confirmation } from "../ui/confirmation.tsx";
import { Facts, NoPerson } from "./facts.tsx";

/** Asks the person whether a program on this computer may act in their name (contract 28.3). */

export function AuthorizeView() {
  const asked = parseAsked(askedLogin.value);
  return (
    <Page title="Log in at the terminal">
      {!asked && <p>No login to confirm. Start one in the terminal: item-vault login --browser</p>}
      {asked && !session.value!.person && <NoPerson />}
      {asked && session.value!.person && <Question asked={asked} />}
    </Page>
  );
}

function cancel(): void {
  askedLogin.value = "";
  navigate({ view: "items" }, { replace: true });
}

function Question({ asked }: { readonly asked: Asked }) {
  const { redirect_uri, vaults, expiresIn, admin } = asked.body;
  const onConfirm = async () => {
    const { data } = await call("POST /console/authorizations", { body: asked.body });
    askedLogin.value = "";
    location.replace(targetOf(asked, data.code));
  };
  return (
    <Confirmation action="Confirm" onConfirm={onConfirm} onCancel={cancel}>
      <p>A program on this computer asks for a token. Confirm only if you just started this login yourself.</p>
      <Facts
        rows={[["Program at", new URL(redirect_uri).host]]}
        vaults={vaults ?? undefined}
        admin={admin === true}
        lifetime={expiresIn!}
      />
    </Confirmation>
  );
}
