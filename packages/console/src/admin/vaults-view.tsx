import type { AdminVault, NewVault, VaultChange } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { useSignal } from "@preact/signals";
import { askFor } from "../session-acts.tsx";
import { call } from "../state/client.ts";
import { loadItems } from "../state/items.ts";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import { signIn } from "../state/sign-in.ts";
import { type Action, showFailure } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/controls.tsx";
import { Time } from "../ui/day.tsx";
import { FormDialog, InputError, textOf } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { isolate, withoutHidden } from "../ui/texts.ts";
import { formatHour } from "../ui/time.ts";
import { ActDialog, type Closable, type DialogProps, NameField, ScopeField } from "./dialogs.tsx";
import { adminVaults, nameOfVault, shortId, type VaultRow } from "./lists.ts";
import { parseQuota, presentQuota, type QuotaRow, QUOTAS } from "./quotas.ts";
import { type AdminList, AdminView, dayColumn, ID_FACT } from "./rows.tsx";
import { canonicalScope, type Scope, scopeOf, wholeVaults } from "./scope.ts";
import { VaultAccess } from "./vault-access.tsx";

/** The vaults of the service, for the admin: what they use of their quotas, creating, changing and deleting them. */

export const VaultsView = () => (
  <AdminView view={VIEW}>
    <OpenVaults />
  </AdminView>
);

const VIEW: AdminList<VaultRow> = {
  title: "Vaults",
  list: adminVaults,
  empty: "No vaults yet. Create one to store items in it.",
  create: { label: "Create vault", dialog: VaultForm },
  name: "Name",
  nameOf: nameOfVault,
  notesOf: ({ description }) => [description],
  damaged: "It can only be deleted.",
  columns: QUOTAS.map((quota) => ({ label: quota.label, cell: (vault) => <Used vault={vault} {...quota} /> })),
  facts: [dayColumn("Created"), ID_FACT],
  acts: [
    { label: "Edit", dialog: VaultForm },
    { label: "New key", dialog: RenewKey },
  ],
  end: { label: "Delete", dialog: DeleteVault },
  sections: [{ label: "Who has access", content: VaultAccess }],
};

function Used({ vault: { usage, quota }, name, label, format }: QuotaRow & { readonly vault: VaultRow }) {
  const [used, most] = [usage[name], quota[name]];
  if (used === null) return <span class="quiet">not counted yet</span>;
  const text = `${format(used)} of ${format(most)}`;
  return (
    <span class="used">
      <span>{text}</span>
      <meter aria-label={label} title={text} min={0} max={Math.max(1, most)} high={most * 0.9} value={used} />
    </span>
  );
}

/** HTML shows white space as one space, and nobody sees or types hidden characters. */
const normalize = (text: string): string => withoutHidden(text).replaceAll(/\s+/g, " ").trim();

/** Deletes a vault, when its name was typed, or the start of the id where there is none. */
function DeleteVault({ row: vault, onClose }: DialogProps<VaultRow>) {
  const typed = useSignal("");
  const confirmation = ("broken" in vault ? "" : normalize(vault.name)) || shortId(vault.id);
  return (
    <ActDialog
      title="Delete vault?"
      submit="Delete vault"
      danger
      disabled={normalize(typed.value) !== confirmation}
      act={() => call("DELETE /v1/admin/vaults/{vault}", { path: { vault: vault.id } })}
      done="Vault deleted"
      list={vaultList}
      onClose={onClose}
    >
      <p>
        This permanently deletes <strong class="name">{nameOfVault(vault)}</strong>
        {vault.items === 0 ? ", which has no items. " : ` and its ${plural(vault.items, "item")}, including versions and files. `}
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
    </ActDialog>
  );
}

function RenewKey({ row: { id, name, dataKey }, onClose }: DialogProps<AdminVault>) {
  const renew = () => call("POST /v1/admin/vaults/{vault}/keys", { path: { vault: id }, body: { replaces: dataKey.id } });
  return (
    <ActDialog title="New key for a vault" submit="Renew key" act={renew} done="Key renewed" list={vaultList} onClose={onClose}>
      <p>
        Everything saved in <strong class="name">{name}</strong> from now on is encrypted with a new key. What is stored keeps its
        key until it changes.
      </p>
    </ActDialog>
  );
}

const OPEN = "Open vaults for 12 hours";

/** Whether the session opens vaults besides the admin's routes, and the offer to open them. */
function OpenVaults() {
  const choosing = useSignal(false);
  const scope = useSignal<Scope>({});
  const usable = (adminVaults.rows.value ?? []).flatMap((vault) => ("broken" in vault ? [] : [vault.id]));
  const { token, person } = session.value ?? {};
  const opened = openedScope();
  const missing = usable.filter((id) => !Object.hasOwn(opened, id));
  if (usable.length === 0) return null;
  const choose = () => {
    // The newest vaults, at most as many as a session may open.
    const newest = missing.slice(0, Math.max(1, LIMITS.tokenVaults - Object.keys(opened).length));
    scope.value = { ...scopeOf(newest, "rw"), ...wholeVaults(opened) };
    choosing.value = true;
  };
  const close = () => (choosing.value = false);
  const open = async () => {
    if (Object.keys(scope.value).length === 0) throw new InputError("Choose at least one vault.");
    await openVaults(scope.value);
  };
  return (
    <div class="offer">
      {token ? (
        <p>
          You have access as “{isolate(person ? person.email : token.name)}” until{" "}
          <Time time={openUntil()} words={formatHour(openUntil())} />.{" "}
          <span class="quiet">{missing.length > 0 && `${plural(missing.length, "vault is", "vaults are")} not open.`}</span>
        </p>
      ) : (
        <p>
          As an admin you manage vaults but cannot see inside them.{" "}
          <span class="quiet">Open them for 12 hours to work with items; this is recorded in the activity log.</span>
        </p>
      )}
      <div class="buttons">
        {!token && <Button text="Sign in with a token" onClick={() => askFor("token")} />}
        <Button
          text={token ? (missing.length > 0 ? "Open more vaults" : "Change access") : OPEN}
          class={token ? undefined : "primary"}
          onClick={choose}
        />
      </div>
      {choosing.value && (
        <FormDialog title={token ? "Open more vaults" : OPEN} action={open} submit="Open vaults" onClose={close}>
          <p>
            {token
              ? `These vaults stay open until you sign out. Activity is still recorded under your ${person ? "name" : "token"}.`
              : "Creates a 12-hour token named “console” for these vaults. It is never shown."}
          </p>
          <ScopeField scope={scope} />
        </FormDialog>
      )}
    </div>
  );
}

/** The scope of the session, by canonical ids of vaults. */
const openedScope = () => canonicalScope(session.value?.token?.vaults ?? {});

/** The vaults of the admin, and the session's vaults, which have their names and Items. */
const vaultList = {
  load: () => {
    if (session.value?.token) void loadItems();
    return adminVaults.load();
  },
};

function VaultForm({ row: vault, onClose }: Partial<DialogProps<AdminVault>> & Closable) {
  let offer: Action | undefined;
  const create = async (body: NewVault) => {
    const { id } = (await call("POST /v1/admin/vaults", { body })).data;
    offer = { label: "Open it", run: () => openBeside(id) };
  };
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
    <ActDialog {...texts} act={act} offer={() => offer} list={vaultList} onClose={onClose}>
      <NameField value={vault?.name ?? ""} />
      <label>
        Description
        <textarea name="description" rows={2} defaultValue={vault?.description ?? ""} />
      </label>
      <fieldset>
        <legend>Limits</legend>
        <div class="quotas">
          {QUOTAS.map((quota) => (
            <Field
              key={quota.name}
              label={quota.most}
              name={quota.name}
              type="number"
              min={0}
              step={1 / quota.unit}
              help="quota-help"
              placeholder={String(Math.floor(quota.standard / quota.unit))}
              defaultValue={vault && presentQuota(quota, vault.quota[quota.name])}
            />
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
const openBeside = (id: string): void => void openVaults({ ...wholeVaults(openedScope()), [id]: "rw" }).catch(showFailure);

/** Opens vaults to an admin: to the token or person of the session, or by a token that the session then acts as. */

const LIFETIME = 12 * 60 * 60; // seconds, as a session lasts

/** Opens vaults until the session ends, and then shows the Items. Throws an ItemVaultError. */
async function openVaults(vaults: Scope): Promise<void> {
  // The log still names the same writer.
  await (session.value?.token ? signIn({ vaults }) : signInAsConsole(vaults));
  navigate({ view: "items" });
}

/** Issues a token, which the log of the admin shows, and adds it to the session. Nobody sees its text. Throws an ItemVaultError. */
async function signInAsConsole(vaults: Scope): Promise<void> {
  const { data } = await call("POST /v1/admin/tokens", { body: { name: "console", vaults, expiresIn: LIFETIME } });
  try {
    await signIn({ token: data.token! });
  } catch (error) {
    // Nobody has the text of the token, so nobody can use it.
    await call("DELETE /v1/admin/tokens/{token}", { path: { token: data.id } }).catch(() => undefined);
    throw error;
  }
}

/** When the session stops opening vaults: an ISO 8601 time. */
function openUntil(): string {
  const { expiresAt, token } = session.value!;
  return token && token.expiresAt < expiresAt ? token.expiresAt : expiresAt;
}
