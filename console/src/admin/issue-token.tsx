import { useSignal } from "@preact/signals";
import type { Dialect, IssuedToken } from "@item-vault/client";
import { LIMITS } from "../../../src/model/limits.ts";
import { call } from "../api/client.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { IssuedTokenText } from "./issued-token.tsx";
import { LifetimeField, parseLifetime } from "./lifetime-field.tsx";
import { tokens } from "./lists.ts";
import { ScopeField } from "./scope-field.tsx";
import { OPERATIONS, type Scope, setOperation } from "./scope.ts";

/** Issues a token, then shows its text. */

export function IssueToken({ onClose }: { readonly onClose: () => void }) {
  const issued = useSignal<IssuedToken | undefined>(undefined);
  const scope = useSignal<Scope>({});
  const binding = useSignal(false);
  if (issued.value) return <IssuedTokenText issued={issued.value} onClose={onClose} />;
  const action = async (data: FormData) => {
    if (Object.keys(scope.value).length === 0) throw new InputError("Choose at least one vault.");
    const body = {
      name: textOf(data, "name"),
      vaults: scope.value,
      dialect: textOf(data, "dialect") as Dialect,
      expiresIn: parseLifetime(data),
      binding: binding.value,
    };
    issued.value = (await call("POST /v1/admin/tokens", { body })).data;
    void tokens.load();
  };
  /** A service binding only reads (contract 18.5). */
  const setBinding = (next: boolean) => {
    binding.value = next;
    if (next) scope.value = withoutWriting(scope.value);
  };
  return (
    <Dialog title="Issue token" onClose={onClose}>
      <Form action={action} submit="Issue token" onCancel={onClose}>
        <label>
          Name
          <input
            name="name"
            required
            pattern=".*\S.*"
            title="A text that is not only spaces"
            maxLength={LIMITS.title}
            autocomplete="off"
            placeholder="The program or person that uses it"
          />
        </label>
        <ScopeField
          value={scope.value}
          onChange={(next) => (scope.value = next)}
          operations={binding.value ? ["r"] : OPERATIONS}
        />
        <LifetimeField />
        <label>
          For
          <select name="dialect">
            <option value="uuid">Item Vault’s command line and clients</option>
            <option value="connect">Clients of 1Password Connect</option>
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={binding.value} onChange={(event) => setBinding(event.currentTarget.checked)} />
          <span>
            Only for service bindings of other Workers <span class="quiet">– it reads, and has no text</span>
          </span>
        </label>
      </Form>
    </Dialog>
  );
}

const withoutWriting = (scope: Scope): Scope =>
  ["w", "d"].reduce((kept, operation) => setOperation(kept, Object.keys(kept), operation as "w" | "d", false), scope);
