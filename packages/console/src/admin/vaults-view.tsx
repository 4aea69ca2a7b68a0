import type { AdminVault } from "@item-vault/client";
import { lazy } from "../ui/lazy.tsx";
import { AdminList, type RowAction } from "./admin-list.tsx";
import { DeleteVault } from "./delete-vault.tsx";
import { adminVaults, type VaultRow } from "./lists.ts";
import { OpenVaults } from "./open-vaults.tsx";
import { QUOTAS } from "./quotas.ts";
import { dayColumn, RowName } from "./row-cells.tsx";
import { VaultAccess } from "./vault-access.tsx";
import { VaultForm } from "./vault-form.tsx";
import { nameOfVault } from "./vault-names.ts";

const ResealVault = lazy<{ readonly vault: AdminVault; readonly onClose: () => void }>(() =>
  import("../operations/reseal-vault.tsx").then((module) => module.ResealVault),
);

/** The vaults of the service, for the admin: what they use of their quotas, creating, changing and deleting them. */

export const VaultsView = () => (
  <AdminList
    title="Vaults"
    noun="vault"
    list={adminVaults}
    empty="No vaults yet. Create one to store items in it."
    create={{ label: "Create vault", dialog: (close) => <VaultForm onClose={close} /> }}
    nameOf={nameOfVault}
    columns={COLUMNS}
    actions={ACTIONS}
  >
    <OpenVaults />
  </AdminList>
);

const COLUMNS = [
  { label: "Name", cell: (vault: VaultRow) => <Name vault={vault} /> },
  ...QUOTAS.map(({ label, name, format }) => ({
    label,
    cell: ({ usage, quota }: VaultRow) => <Used label={label} used={usage[name]} most={quota[name]} format={format} />,
  })),
  dayColumn("Created"),
] as const;

const ACTIONS: readonly RowAction<VaultRow>[] = [
  {
    label: "Edit",
    dialogOf: (vault) => ("broken" in vault ? undefined : (close) => <VaultForm vault={vault} onClose={close} />),
  },
  {
    label: "Who has access",
    namedLabel: "Who has access to",
    only: "shows",
    dialogOf: (vault) =>
      "broken" in vault ? undefined : (close) => <VaultAccess id={vault.id} name={vault.name} onClose={close} />,
  },
  {
    label: "New keys",
    namedLabel: "New keys for",
    dialogOf: (vault) => ("broken" in vault ? undefined : (close) => <ResealVault vault={vault} onClose={close} />),
  },
  { label: "Delete", dialogOf: (vault) => (close) => <DeleteVault vault={vault} onClose={close} /> },
];

const Name = ({ vault }: { readonly vault: VaultRow }) => (
  <RowName row={vault} name={nameOfVault(vault)} only="deleted">
    {"description" in vault && vault.description !== "" && <span class="quiet">{vault.description}</span>}
  </RowName>
);

interface UsedProps {
  readonly label: string;
  /** `null`: the service has not counted it yet. */
  readonly used: number | null;
  readonly most: number;
  readonly format: (value: number) => string;
}

/** What a vault uses of a quota. */
function Used({ label, used, most, format }: UsedProps) {
  if (used === null) return <span class="quiet">not counted yet</span>;
  const text = `${format(used)} of ${format(most)}`;
  return (
    <span class="used">
      <span>{text}</span>
      <meter aria-label={label} title={text} min={0} max={Math.max(1, most)} high={most * 0.9} value={used} />
    </span>
  );
}
