import type { LoginCode, Permission } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { permissionOf } from "@item-vault/model/permission";
import { describePermission, grants, OPERATIONS, type Scope } from "../admin/scope.ts";
import { call } from "../api/client.ts";
import { vaultName } from "../state/items.ts";
import { navigate } from "../state/route.ts";
import { Form, textOf } from "../ui/form.tsx";
import { ownVaults } from "./facts.tsx";

/** What a terminal gets: to read, for an hour, unless the person chooses more. */

const LIFETIMES = [
  ["15 minutes", 15 * 60],
  ["1 hour", LIMITS.loginCodeLifetime],
  ["12 hours", LIMITS.loginLifetime],
] as const;

/** Returns the part of a permission that only reads. */
const readingOf = (permission: Permission): Permission | undefined =>
  permissionOf(OPERATIONS.filter((operation) => grants("r", operation) && grants(permission, operation)));

export function CodeForm({ onMade }: { readonly onMade: (code: LoginCode) => void }) {
  const own = Object.entries(ownVaults()).map(([id, all]) => ({ id, all, reading: readingOf(all) }));
  const action = async (data: FormData) => {
    const vaults = Object.fromEntries(
      own.flatMap(({ id, all, reading }) => {
        const permission = { all, reading, none: undefined }[textOf(data, id)];
        return permission ? [[id, permission]] : [];
      }),
    ) as Scope;
    const body = { vaults, expiresIn: Number(textOf(data, "lifetime")) };
    onMade((await call("POST /console/login-codes", { body })).data);
  };
  return (
    <Form action={action} submit="Create code" onCancel={() => navigate({ view: "items" })}>
      <p>A program in the terminal gets a token in your name. It is never an administrator.</p>
      {own.map(({ id, all, reading }) => (
        <label key={id}>
          {vaultName(id) || id}
          <select name={id}>
            {reading && <option value="reading">{describePermission(reading)}</option>}
            <option value="none">no access</option>
            {all !== reading && <option value="all">{describePermission(all)}</option>}
          </select>
        </label>
      ))}
      <label>
        Expires after
        <select name="lifetime" value={LIMITS.loginCodeLifetime}>
          {LIFETIMES.map(([label, seconds]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </Form>
  );
}
