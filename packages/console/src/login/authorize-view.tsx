import type { Operations } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { isCodeChallenge, isLoopback } from "@item-vault/model/login";
import { askedLogin } from "../state/provider.ts";
import { call } from "../state/client.ts";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Form } from "../ui/form.tsx";
import { Page } from "../ui/page.tsx";
import { Facts, NoPerson } from "./facts.tsx";

/** Asks the person whether a program on this computer may act in their name (contract 28.3). */
export function AuthorizeView() {
  const asked = parseAsked(askedLogin.value);
  return (
    <Page title="Log in at the terminal">
      {!asked ? (
        <p>No login to confirm. Start one in the terminal: item-vault login --browser</p>
      ) : session.value!.person ? (
        <Question {...asked} />
      ) : (
        <NoPerson />
      )}
    </Page>
  );
}

type Authorization = Operations["POST /console/authorizations"]["body"];

interface Asked {
  readonly body: Authorization;
  readonly state: string;
}

function cancel(): void {
  askedLogin.value = "";
  navigate({ view: "items" }, { replace: true });
}

function Question({ body, state }: Asked) {
  const target = new URL(body.redirect_uri);
  const onConfirm = async () => {
    const { data } = await call("POST /console/authorizations", { body });
    askedLogin.value = "";
    target.searchParams.set("code", data.code);
    target.searchParams.set("state", state);
    location.replace(target.href);
  };
  return (
    <Form action={onConfirm} submit="Confirm" onCancel={cancel}>
      <p>A program on this computer asks for a token. Confirm only if you just started this login yourself.</p>
      <Facts program={target.host} vaults={body.vaults ?? undefined} admin={body.admin === true} lifetime={body.expiresIn!} />
    </Form>
  );
}

const STATE_CHARACTERS_MAX = 512;

/** Parses the request of a program (contract 28.3). Returns undefined for a malformed one. The service checks the vaults. */
function parseAsked(query: string): Asked | undefined {
  const given = new URLSearchParams(query);
  const [redirect_uri, code_challenge, state] = ["redirect_uri", "code_challenge", "state"].map((name) => given.get(name) ?? "");
  const vaults = vaultsOf(given.get("vaults"));
  const admin = given.get("admin") === "true";
  const longest = admin ? LIMITS.adminLoginLifetime : LIMITS.loginLifetime;
  const expiresIn = given.has("expiresIn") ? Number(given.get("expiresIn")) : longest;
  const isTime = Number.isInteger(expiresIn) && expiresIn > 0 && expiresIn <= longest;
  const isWhole =
    isLoopback(redirect_uri!) && isCodeChallenge(code_challenge!) && state !== "" && state!.length <= STATE_CHARACTERS_MAX;
  if (!isWhole || !isTime || vaults === null || (admin && vaults)) return undefined;
  const body = { redirect_uri: redirect_uri!, code_challenge: code_challenge!, expiresIn };
  return { state: state!, body: { ...body, ...(vaults && { vaults }), ...(admin && { admin }) } };
}

/** Returns `null` for a text that is not an object. */
function vaultsOf(text: string | null): Authorization["vaults"] | null | undefined {
  if (text === null) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Authorization["vaults"]) : null;
  } catch {
    return null;
  }
}
