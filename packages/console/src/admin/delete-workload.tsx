import { call } from "../api/client.ts";
import { refreshHealth } from "../state/health.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { focusTitle } from "../ui/page.tsx";
import { type WorkloadRow, workloads } from "./lists.ts";

/** Deletes an issuer or a rule after a confirmation. */

interface Props {
  readonly row: WorkloadRow;
  readonly name: string;
  readonly onClose: () => void;
}

export function DeleteWorkload({ row: { kind, id }, name, onClose }: Props) {
  const action = async () => {
    await (kind === "issuer"
      ? call("DELETE /v1/admin/issuers/{issuer}", { path: { issuer: id } })
      : call("DELETE /v1/admin/rules/{rule}", { path: { rule: id } }));
    showToast(kind === "issuer" ? "Issuer deleted" : "Rule deleted");
    onClose();
    refreshHealth();
    await workloads.load();
    focusTitle();
  };
  return (
    <Dialog title={`Delete ${kind}`} onClose={onClose}>
      <Form action={action} submit={`Delete ${kind}`} danger onCancel={onClose}>
        <p>
          <strong class="name">{name}</strong> {kind === "issuer" && "and all its rules "}will be deleted. Workloads lose access
          with their next request. You can’t undo this.
        </p>
      </Form>
    </Dialog>
  );
}
