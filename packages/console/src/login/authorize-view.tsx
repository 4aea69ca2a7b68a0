import type { Operations } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { LIMITS } from "@item-vault/model/limits";
import { isCodeChallenge, isLoopback } from "@item-vault/model/login";
import { describePermission, type Scope } from "../admin/scope.ts";
import { call } from "../state/client.ts";
import { vaultName } from "../state/items.ts";
import { askedLogin } from "../state/provider.ts";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Alert } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { Pairs } from "../ui/lists.tsx";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";

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

type Asked = Readonly<{ body: Authorization; state: string }>;

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
      <Pairs
        class="login-facts"
        rows={[
          ["Program at", target.host],
          ["In the name of", session.value!.person!.email],
          body.admin
            ? ["Permissions", "manage vaults, tokens and people, as an administrator"]
            : ["Vaults", <Vaults key="vaults" scope={body.vaults ?? ownVaults()} />],
          ["For", durationOf(body.expiresIn!)],
        ]}
      />
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

/** Returns the permissions of the person by vault. A person's permissions are for whole vaults. */
export const ownVaults = () => session.value!.token!.vaults as Scope;

function Vaults({ scope }: { readonly scope: Scope }) {
  const entries = Object.entries(scope).map(([id, permission]) => [parseId(id) ?? id, permission] as const);
  if (entries.length === 0) return <>none</>;
  return (
    <ul>
      {entries.map(([id, permission]) => (
        <li key={id}>
          {vaultName(id) || id} <span class="quiet">{describePermission(permission)}</span>
        </li>
      ))}
    </ul>
  );
}

function durationOf(seconds: number): string {
  if (seconds >= 3600 && seconds % 3600 === 0) return plural(seconds / 3600, "hour");
  return seconds >= 60 ? plural(Math.floor(seconds / 60), "minute") : plural(seconds, "second");
}

/** In place of the buttons, for a session that confirms nothing (contract 28.3). */
export const NoPerson = () => (
  <Alert>
    Only a person can confirm a login, and you are signed in with a token. Sign out, sign in with your company account, and start
    the login again.
  </Alert>
);
