import type { AdminVault } from "@item-vault/client";
import { AdminList, type RowAction } from "./admin-list.tsx";
import { adminVaults, type VaultRow } from "./lists.ts";
import { QUOTAS } from "./quotas.ts";
import { dayColumn, RowName } from "./row-cells.tsx";
import { VaultAccess } from "./vault-access.tsx";
import { VaultForm, refreshVaults } from "./vault-form.tsx";
import { nameOfVault } from "./vault-names.ts";
import { useSignal } from "@preact/signals";
import { call } from "../state/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError } from "../ui/form.tsx";
import { focusTitle } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { withoutHidden, isolate } from "../ui/texts.ts";
import { shortId } from "./filter.ts";
import { LIMITS } from "@item-vault/model/limits";
import { askFor } from "../grants.tsx";
import { session } from "../state/session.ts";
import { formatHour, formatTime } from "../ui/time.ts";
import { ScopeField } from "./scope-field.tsx";
import { canonicalScope, type Scope, scopeOf, wholeVaults } from "./scope.ts";
import { openVaults, openUntil } from "./open-session.ts";

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
    label: "New key",
    namedLabel: "New key for",
    dialogOf: (vault) => ("broken" in vault ? undefined : (close) => <RenewKey vault={vault} onClose={close} />),
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

/** Deletes a vault, when its name was typed. */

interface Props {
  readonly vault: VaultRow;
  readonly onClose: () => void;
}

/** HTML shows white space as one space, and nobody sees or types hidden characters. */
const normalize = (text: string): string => withoutHidden(text).replaceAll(/\s+/g, " ").trim();

/** What has to be typed: the name, or the start of the id where there is none. */
const confirmationOf = (vault: VaultRow): string => ("broken" in vault ? "" : normalize(vault.name)) || shortId(vault.id);

function DeleteVault({ vault, onClose }: Props) {
  const typed = useSignal("");
  const confirmation = confirmationOf(vault);
  const action = async () => {
    await call("DELETE /v1/admin/vaults/{vault}", { path: { vault: vault.id } });
    showToast("Vault deleted");
    onClose();
    await refreshVaults();
    focusTitle();
  };
  return (
    <Dialog title="Delete vault?" onClose={onClose}>
      <Form action={action} submit="Delete vault" danger disabled={normalize(typed.value) !== confirmation} onCancel={onClose}>
        <p>
          This permanently deletes <strong class="name">{nameOfVault(vault)}</strong>
          {vault.items === 0
            ? ", which has no items. "
            : ` and its ${plural(vault.items, "item")}, including versions and files. `}
          Only a backup can bring it back.
        </p>
        <label>
          Type <strong class="name">{confirmation}</strong> to confirm
          <input
            name="confirmation"
            required
            autocomplete="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        </label>
      </Form>
    </Dialog>
  );
}

function RenewKey({ vault, onClose }: { readonly vault: AdminVault; readonly onClose: () => void }) {
  const action = async () => {
    const request = { path: { vault: vault.id }, body: { replaces: vault.dataKey.id } };
    await call("POST /v1/admin/vaults/{vault}/keys", request);
    showToast("Key renewed");
    onClose();
    await refreshVaults();
  };
  return (
    <Dialog title="New key for a vault" onClose={onClose}>
      <Form action={action} submit="Renew key" onCancel={onClose}>
        <p>
          Everything saved in <strong class="name">{vault.name}</strong> from now on is encrypted with a new key. What is stored
          keeps its key until it changes.
        </p>
      </Form>
    </Dialog>
  );
}

/** Whether the session opens vaults besides the admin's routes, and the offer to open them. */

const OPEN = "Open vaults for 12 hours";

function OpenVaults() {
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

/** Returns the newest vaults, at most as many as a session may open. `missing` begins with the newest vault. */
const newestOf = (missing: readonly string[], opened: object): readonly string[] =>
  missing.slice(0, Math.max(1, LIMITS.tokenVaults - Object.keys(opened).length));
