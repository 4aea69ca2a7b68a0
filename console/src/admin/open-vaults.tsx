import { useSignal } from "@preact/signals";
import { LIMITS } from "@item-vault/model/limits";
import { askFor } from "../grants.tsx";
import { session } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { formatTime } from "../ui/time.ts";
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
          Vaults open until <time dateTime={openUntil()}>{formatTime(openUntil())}</time>
          <span class="quiet">
            , as {person ? person.email : `the token “${isolate(token.name)}”`}.{" "}
            {missing.length > 0 && `${plural(missing.length, "vault")} ${missing.length === 1 ? "is" : "are"} not among them.`}
          </span>
        </p>
      ) : (
        <p>
          Your session manages vaults, but does not open them.{" "}
          <span class="quiet">To see their Items, open them for 12 hours. The activity shows that you did.</span>
        </p>
      )}
      <div class="buttons">
        {!token && (
          <button type="button" onClick={() => askFor("token")}>
            Sign in with a token
          </button>
        )}
        <button type="button" class={token ? "" : "primary"} onClick={choose}>
          {token ? (missing.length > 0 ? "Open other vaults" : "Change what is open") : OPEN}
        </button>
      </div>
      {choosing.value && (
        <Dialog title={token ? "Open other vaults" : OPEN} onClose={() => (choosing.value = undefined)}>
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
              <p>
                The vaults are open in this session until it ends. The activity names {person ? "you" : "your token"} as before.
              </p>
            ) : (
              <p>The console gets a token named “console” for these vaults. Nobody sees its text, and it ends after 12 hours.</p>
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
