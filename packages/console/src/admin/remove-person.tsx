import { call } from "../api/client.ts";
import { refreshHealth } from "../state/health.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { focusTitle } from "../ui/page.tsx";
import { people, type PersonRow } from "./lists.ts";

/** Removes a person after a confirmation. */

interface Props {
  readonly person: PersonRow;
  readonly name: string;
  readonly onClose: () => void;
}

export function RemovePerson({ person, name, onClose }: Props) {
  const action = async () => {
    await call("DELETE /v1/admin/people/{person}", { path: { person: person.id } });
    showToast("Person removed");
    onClose();
    refreshHealth();
    await people.load();
    focusTitle();
  };
  return (
    <Dialog title="Remove person" onClose={onClose}>
      <Form action={action} submit="Remove person" danger onCancel={onClose}>
        <p>
          <strong class="name">{name}</strong> can’t sign in any more. Tokens they have copied still work: revoke those
          separately.
        </p>
      </Form>
    </Dialog>
  );
}
