import type { AdminVault, NewVault, VaultChange } from "@item-vault/client";
import { explain } from "../failures/explain.ts";
import { call } from "../state/client.ts";
import { loadItems } from "../state/items.ts";
import { session } from "../state/session.ts";
import { type Action, showToast } from "../state/toasts.ts";
import { textOf } from "../ui/form.tsx";
import { ActDialog } from "./act-dialog.tsx";
import { adminVaults } from "./lists.ts";
import { NameField } from "./name-field.tsx";
import { openVaults } from "./open-session.ts";
import { parseQuota, presentQuota, QUOTAS } from "./quotas.ts";
import type { DialogProps } from "./rows.tsx";
import { canonicalScope, wholeVaults } from "./scope.ts";

/** The vaults of the admin, and the session's vaults, which have their names and Items. */
export const vaultList = {
  load: () => {
    if (session.value?.token) void loadItems();
    return adminVaults.load();
  },
};

/** Creates a vault, or changes the name, the description and the quotas of one. */
export function VaultForm({ row: vault, onClose }: Partial<DialogProps<AdminVault>> & { readonly onClose: () => void }) {
  let created: string | undefined;
  const create = async (body: NewVault) => (created = (await call("POST /v1/admin/vaults", { body })).data.id);
  const act = (data: FormData): Promise<unknown> => {
    const name = textOf(data, "name");
    const description = textOf(data, "description");
    // Only the changes are sent, so that another admin's changes stay.
    const quotas = QUOTAS.filter((row) => !vault || textOf(data, row.name) !== presentQuota(row, vault.quota[row.name]));
    const quota = Object.fromEntries(quotas.map((row) => [row.name, parseQuota(row, textOf(data, row.name))]));
    if (!vault) return create({ name, description, quota });
    const body: VaultChange = {
      ...(name !== vault.name && { name }),
      ...(description !== vault.description && { description }),
      ...(quotas.length > 0 && { quota }),
    };
    if (Object.keys(body).length === 0) return Promise.resolve();
    return call("PATCH /v1/admin/vaults/{vault}", { path: { vault: vault.id }, body });
  };
  const texts = vault
    ? { title: "Edit vault", submit: "Save", done: "Vault changed" }
    : { title: "Create vault", submit: "Create vault", done: "Vault created" };
  return (
    <ActDialog
      {...texts}
      act={act}
      offer={() => (created === undefined ? undefined : openAction(created))}
      list={vaultList}
      onClose={onClose}
    >
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
    </ActDialog>
  );
}

/** Opens a new vault beside the session's other vaults. */
const openAction = (id: string): Action => ({
  label: "Open it",
  run: () =>
    void openVaults({ ...wholeVaults(canonicalScope(session.value?.token?.vaults ?? {})), [id]: "rw" }).catch((error: unknown) =>
      showToast(explain(error), "failed"),
    ),
});
