import { useSignal } from "@preact/signals";
import { LIMITS } from "@item-vault/model/limits";
import { askFor } from "../grants.tsx";
import { session } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { formatHour, formatTime } from "../ui/time.ts";
import { adminVaults } from "./lists.ts";
import { ScopeField } from "./scope-field.tsx";
import { canonicalScope, type Scope, scopeOf, wholeVaults } from "./scope.ts";
import { openVaults, openUntil } from "./open-session.ts";
import { isolate } from "../ui/texts.ts";

/** Whether the session opens vaults besides the admin's routes, and the offer to open them. */

const OPEN = "Open vaults for 12 hours";

export function OpenVaults() {
  const choosing = useSignal<Scope | undefined>(undefined);
  const usable = (adminVaults.rows.value ?? []).flatMap((vault) => ("broken" in vault ? [] : [vault.id]));
  const { token, person } = session.value ?? {};
  const opened = canonicalScope(token?.vaults ?? {});
  const missing = usable.filter((id) => !Object.hasOwn(opened, id));
  if (usable.length === 0) return null;
  const choose = () => (choosing.value = { ...scopeOf(newestOf(missing, opened), "rw"), ...wholeVaults(opened) });
  return (
    <div class="offer">
      {token ? (
        <p>
          You have access as “{isolate(person ? person.email : token.name)}” until{" "}
          <time dateTime={openUntil()} title={formatTime(openUntil())}>
            {formatHour(openUntil())}
          </time>
          . <span class="quiet">{missing.length > 0 && `${plural(missing.length, "vault is", "vaults are")} not open.`}</span>
        </p>
      ) : (
        <p>
          As an admin you manage vaults but cannot see inside them.{" "}
          <span class="quiet">Open them for 12 hours to work with items; this is recorded in the activity log.</span>
        </p>
      )}
      <div class="buttons">
        {!token && (
          <button type="button" onClick={() => askFor("token")}>
            Sign in with a token
          </button>
        )}
        <button type="button" class={token ? "" : "primary"} onClick={choose}>
          {token ? (missing.length > 0 ? "Open more vaults" : "Change access") : OPEN}
        </button>
      </div>
      {choosing.value && (
        <Dialog title={token ? "Open more vaults" : OPEN} onClose={() => (choosing.value = undefined)}>
          <Form
            action={async () => {
              const scope = choosing.value!;
              if (Object.keys(scope).length === 0) throw new InputError("Choose at least one vault.");
              await openVaults(scope);
            }}
            submit="Open vaults"
            onCancel={() => (choosing.value = undefined)}
          >
            {token ? (
              <p>These vaults stay open until you sign out. Activity is still recorded under your {person ? "name" : "token"}.</p>
            ) : (
              <p>Creates a 12-hour token named “console” for these vaults. It is never shown.</p>
            )}
            <ScopeField value={choosing.value} onChange={(scope) => (choosing.value = scope)} />
          </Form>
        </Dialog>
      )}
    </div>
  );
}

/** The vaults that were created last, where there are more than a session may open. In: the newest vault first. */
const newestOf = (missing: readonly string[], opened: object): readonly string[] =>
  missing.slice(0, Math.max(1, LIMITS.tokenVaults - Object.keys(opened).length));
