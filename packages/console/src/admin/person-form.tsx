import { useSignal } from "@preact/signals";
import type { Person } from "@item-vault/client";
import { call } from "../api/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, textOf } from "../ui/form.tsx";
import { explainQuota } from "./explain-quota.ts";
import { people } from "./lists.ts";
import { ScopeField } from "./scope-field.tsx";
import type { Scope } from "./scope.ts";

/** Invites a person, or changes the vaults of one. */

interface Props {
  /** The person whose vaults are changed. Absent: a new one is invited. */
  readonly person?: Person;
  readonly onClose: () => void;
}

export function PersonForm({ person, onClose }: Props) {
  const scope = useSignal<Scope>(person?.vaults ?? {});
  const action = async (data: FormData) => {
    const vaults = scope.value;
    const admin = data.get("admin") === "on";
    if (person) await call("PATCH /v1/admin/people/{person}", { path: { person: person.id }, body: { vaults, admin } });
    else await call("POST /v1/admin/people", { body: { email: textOf(data, "email"), vaults, admin } }).catch(explainQuota);
    onClose();
    showToast(person ? "Vaults changed" : "Person invited");
    void people.load();
  };
  return (
    <Dialog title={person ? "Change vaults" : "Invite person"} onClose={onClose}>
      <Form action={action} submit={person ? "Save" : "Invite"} onCancel={onClose}>
        {person ? (
          <p>
            <strong class="name">{person.email}</strong> signs in again after a change.
          </p>
        ) : (
          <label>
            Email address
            <input
              name="email"
              inputMode="email"
              required
              pattern="\s*[^@\s]+@[^@\s]+\s*"
              title="An email address such as ada@example.com"
              maxLength={254}
              autocomplete="off"
            />
          </label>
        )}
        <label class="check">
          <input type="checkbox" name="admin" defaultChecked={person?.admin === true} aria-describedby="admin-help" />
          Administrator
        </label>
        <p id="admin-help" class="quiet">
          An administrator manages vaults, tokens and people from the command line:{" "}
          <code>item-vault login --browser --admin</code>
        </p>
        <ScopeField value={scope.value} onChange={(next) => (scope.value = next)} />
      </Form>
    </Dialog>
  );
}
