import type { ComponentChildren } from "preact";
import { parseId } from "@item-vault/model/ids";
import type { Permission } from "@item-vault/client";
import { describePermission } from "../admin/scope.ts";
import { vaultName } from "../state/items.ts";
import { session } from "../state/session.ts";
import { plural } from "../ui/plural.ts";

interface Props {
  readonly program: string;
  /** By the vault's id, in either form. Absent: all of the person. */
  readonly vaults: Readonly<Record<string, Permission>> | undefined;
  readonly admin: boolean;
  readonly lifetime: number; // seconds
}

/** The effects of a login, shown before the person confirms. */
export function Facts({ program, vaults, admin, lifetime }: Props) {
  const facts: readonly (readonly [label: string, value: ComponentChildren])[] = [
    ["Program at", program],
    ["In the name of", session.value!.person!.email],
    admin
      ? ["Permissions", "manage vaults, tokens and people, as an administrator"]
      : ["Vaults", <Vaults key="vaults" scope={vaults ?? ownVaults()} />],
    ["For", durationOf(lifetime)],
  ];
  return (
    <dl class="login-facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Returns the permissions of the person by vault. A person's permissions are for whole vaults. */
export const ownVaults = () => session.value!.token!.vaults as Readonly<Record<string, Permission>>;

function Vaults({ scope }: { readonly scope: Readonly<Record<string, Permission>> }) {
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
  <p class="failure" role="alert">
    Only a person can confirm a login, and you are signed in with a token. Sign out, sign in with your company account, and start
    the login again.
  </p>
);
