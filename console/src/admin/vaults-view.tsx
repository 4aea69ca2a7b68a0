import { useSignal } from "@preact/signals";
import { Day } from "../ui/day.tsx";
import { Page } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { DeleteVault } from "./delete-vault.tsx";
import { matches } from "./filter.ts";
import { ListContent } from "./list-content.tsx";
import { adminVaults, BROKEN, type VaultRow } from "./lists.ts";
import { OpenVaults } from "./open-vaults.tsx";
import { QUOTAS } from "./quotas.ts";
import { SearchRows } from "./search-rows.tsx";
import { VaultForm } from "./vault-form.tsx";
import { nameOfVault } from "./vault-names.ts";

/** The vaults of the service, for the admin: what they use of their quotas, creating, changing and deleting them. */

type Shown = { readonly dialog: "create" } | { readonly dialog: "edit" | "delete"; readonly vault: VaultRow };

/** More vaults get a field that searches them. */
const MANY = 8;

export function VaultsView() {
  const shown = useSignal<Shown | undefined>(undefined);
  const query = useSignal("");
  const close = () => (shown.value = undefined);
  const create = (
    <button type="button" class="primary" onClick={() => (shown.value = { dialog: "create" })}>
      Create vault
    </button>
  );
  return (
    <Page title="Vaults" actions={create}>
      <OpenVaults />
      <ListContent list={adminVaults} empty={<p class="empty">There are no vaults yet. Create one to store Items in it.</p>}>
        {(rows) => (
          <>
            {rows.length > MANY && <SearchRows label="Search vaults" query={query} />}
            <Table
              label="Vaults"
              rows={rows.filter((vault) => matches(query.value, nameOfVault(vault)))}
              keyOf={({ id }) => id}
              columns={COLUMNS}
              actions={(vault) => (
                <>
                  {!("broken" in vault) && (
                    <button
                      type="button"
                      aria-label={`Edit ${vault.name}`}
                      onClick={() => (shown.value = { dialog: "edit", vault })}
                    >
                      Edit
                    </button>
                  )}
                  <button
                    type="button"
                    class="danger"
                    aria-label={`Delete ${nameOfVault(vault)}`}
                    onClick={() => (shown.value = { dialog: "delete", vault })}
                  >
                    Delete
                  </button>
                </>
              )}
            />
          </>
        )}
      </ListContent>
      {shown.value?.dialog === "create" && <VaultForm onClose={close} />}
      {shown.value?.dialog === "edit" && !("broken" in shown.value.vault) && (
        <VaultForm vault={shown.value.vault} onClose={close} />
      )}
      {shown.value?.dialog === "delete" && <DeleteVault vault={shown.value.vault} onClose={close} />}
    </Page>
  );
}

const COLUMNS = [
  { label: "Name", cell: (vault: VaultRow) => <Name vault={vault} /> },
  ...QUOTAS.map(({ label, name, format }) => ({
    label,
    cell: ({ usage, quota }: VaultRow) => <Used label={label} used={usage[name]} most={quota[name]} format={format} />,
  })),
  { label: "Created", cell: ({ createdAt }: VaultRow) => <Day time={createdAt} /> },
] as const;

function Name({ vault }: { readonly vault: VaultRow }) {
  const text = "broken" in vault ? `${BROKEN[vault.broken]} It can only be deleted.` : vault.description;
  return (
    <>
      <span class="name">{nameOfVault(vault)}</span>
      {text !== "" && <span class={"broken" in vault ? "broken" : "quiet"}>{text}</span>}
    </>
  );
}

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
