import type { AdminVault, QuotaInput, VaultChange } from "@item-vault/client";
import { call } from "../state/client.ts";
import { loadItems } from "../state/items.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { NameField } from "./name-field.tsx";
import { Form, textOf } from "../ui/form.tsx";
import { adminVaults } from "./lists.ts";
import { parseQuota, presentQuota, QUOTAS } from "./quotas.ts";
import { explain } from "../failures/explain.ts";
import type { Action } from "../state/toasts.ts";
import { openVaults } from "./open-session.ts";
import { canonicalScope, wholeVaults } from "./scope.ts";

/** Creates a vault, or changes the name, the description and the quotas of one. */

interface Props {
  /** The vault that is changed. Absent: a new one is created. */
  readonly vault?: AdminVault;
  readonly onClose: () => void;
}

export function VaultForm({ vault, onClose }: Props) {
  const action = async (data: FormData) => {
    const made = vault ? await changeVault(vault, data) : await createVault(data);
    onClose();
    showToast(vault ? "Vault changed" : "Vault created", "done", made === undefined ? undefined : openAction(made));
    void refreshVaults();
  };
  return (
    <Dialog title={vault ? "Edit vault" : "Create vault"} onClose={onClose}>
      <Form action={action} submit={vault ? "Save" : "Create vault"} onCancel={onClose}>
        <NameField value={vault?.name ?? ""} />
        <label>
          Description
          <textarea name="description" rows={2} defaultValue={vault?.description ?? ""} />
        </label>
        <fieldset>
          <legend>Limits</legend>
          <div class="quotas">
            {QUOTAS.map((quota) => (
              <label key={quota.name}>
                {quota.most}
                <input
                  name={quota.name}
                  type="number"
                  min={0}
                  step={1 / quota.unit}
                  aria-describedby="quota-help"
                  placeholder={String(Math.floor(quota.standard / quota.unit))}
                  defaultValue={vault ? presentQuota(quota, vault.quota[quota.name]) : ""}
                />
              </label>
            ))}
          </div>
          <p id="quota-help" class="quiet">
            Leave empty to use the default limits.
          </p>
        </fieldset>
      </Form>
    </Dialog>
  );
}

async function createVault(data: FormData): Promise<string> {
  const quota = Object.fromEntries(QUOTAS.map((row) => [row.name, parseQuota(row, textOf(data, row.name))]));
  const body = { name: textOf(data, "name"), description: textOf(data, "description"), quota };
  return (await call("POST /v1/admin/vaults", { body })).data.id;
}

/** Opens a new vault beside the session's other vaults. */
const openAction = (id: string): Action => ({
  label: "Open it",
  run: () =>
    void openVaults({ ...wholeVaults(canonicalScope(session.value?.token?.vaults ?? {})), [id]: "rw" }).catch((error: unknown) =>
      showToast(explain(error), "failed"),
    ),
});

/** Sends only the changes, so that another admin's changes stay. */
async function changeVault({ id, name, description, quota }: AdminVault, data: FormData): Promise<undefined> {
  const quotas: QuotaInput = Object.fromEntries(
    QUOTAS.filter((row) => textOf(data, row.name) !== presentQuota(row, quota[row.name])).map((row) => [
      row.name,
      parseQuota(row, textOf(data, row.name)),
    ]),
  );
  const change: VaultChange = {
    ...(textOf(data, "name") === name ? {} : { name: textOf(data, "name") }),
    ...(textOf(data, "description") === description ? {} : { description: textOf(data, "description") }),
    ...(Object.keys(quotas).length === 0 ? {} : { quota: quotas }),
  };
  if (Object.keys(change).length > 0) await call("PATCH /v1/admin/vaults/{vault}", { path: { vault: id }, body: change });
  return undefined;
}

/** Loads the vaults again, and the session's vaults, which have their names and Items. */
export async function refreshVaults(): Promise<void> {
  if (session.value?.token) void loadItems();
  await adminVaults.load();
}
