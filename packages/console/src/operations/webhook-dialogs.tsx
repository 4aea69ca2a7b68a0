import { useSignal } from "@preact/signals";
import type { WebhookChange } from "@item-vault/client";
import { adminVaults } from "../admin/lists.ts";
import { nameOfVault, vaultLabel } from "../admin/vault-names.ts";
import { call } from "../state/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, textOf } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import { focusTitle } from "../ui/page.tsx";
import { SecretForm, ShownOnce } from "../ui/shown-once.tsx";
import { pathOf, type WebhookRow, webhooks } from "./webhooks.ts";

/** The dialogs of a webhook: adding, changing and deleting it, and a new secret for its signatures. */

const PATH = "/v1/admin/vaults/{vault}/webhooks/{webhook}" as const;

interface Props {
  readonly row: WebhookRow;
  readonly onClose: () => void;
}

const keyed = () => ({ "Idempotency-Key": crypto.randomUUID() });

const UrlField = ({ url }: { readonly url?: string | undefined }) => (
  <label>
    URL
    <input name="url" type="url" required pattern="https://.*" placeholder="https://example.com/events" defaultValue={url} />
  </label>
);

export function NewWebhookDialog({ onClose }: { readonly onClose: () => void }) {
  const secret = useSignal<string | undefined>(undefined);
  if (secret.value !== undefined) return <SecretDialog title="Webhook added" secret={secret.value} onClose={onClose} />;
  const usable = (adminVaults.rows.value ?? []).filter((vault) => !("broken" in vault));
  const action = async (data: FormData) => {
    const { data: made } = await call("POST /v1/admin/vaults/{vault}/webhooks", {
      path: { vault: textOf(data, "vault") },
      headers: keyed(),
      body: { url: textOf(data, "url") },
    });
    secret.value = made.secret ?? "";
    void webhooks.load();
  };
  return (
    <SecretForm title="Add webhook" secret="secret" action={action} submit="Add webhook" onClose={onClose}>
      <label>
        Vault
        <select name="vault" required>
          {usable.map((vault) => (
            <option key={vault.id} value={vault.id}>
              {nameOfVault(vault)}
            </option>
          ))}
        </select>
      </label>
      <UrlField />
    </SecretForm>
  );
}

export function ChangeWebhook({ row, onClose }: Props) {
  const stopped = row.state !== "ACTIVE";
  const action = async (data: FormData) => {
    const url = textOf(data, "url");
    const state = textOf(data, "state");
    const body: WebhookChange = {
      ...(url !== row.url && { url }),
      ...(state === "DISABLED"
        ? { enabled: false }
        : stopped && state !== row.state
          ? { resume: state as "cursor" | "latest" }
          : {}),
    };
    await call(`PATCH ${PATH}`, { path: pathOf(row), headers: keyed(), body });
    onClose();
    showToast("Webhook changed");
    void webhooks.load();
  };
  return (
    <Dialog title="Change webhook" onClose={onClose}>
      <Form action={action} submit="Save" onCancel={onClose}>
        <p class="quiet">Events of {vaultLabel(row.vault)}</p>
        <UrlField url={row.url} />
        <label>
          Deliveries
          <select name="state" defaultValue={row.state}>
            {row.state === "PAUSED" && <option value="PAUSED">Keep paused</option>}
            {row.state === "ACTIVE" && <option value="ACTIVE">Keep sending</option>}
            {stopped && <option value="cursor">Resume and send missed events</option>}
            {stopped && <option value="latest">Resume from now</option>}
            <option value="DISABLED">{row.state === "DISABLED" ? "Keep disabled" : "Stop"}</option>
          </select>
        </label>
      </Form>
    </Dialog>
  );
}

export function RotateSecret({ row, onClose }: Props) {
  const secret = useSignal<string | undefined>(undefined);
  if (secret.value !== undefined) return <SecretDialog title="New secret" secret={secret.value} onClose={onClose} />;
  const action = async () => {
    const { data } = await call(`PATCH ${PATH}`, { path: pathOf(row), headers: keyed(), body: { rotateSecret: true } });
    secret.value = data.secret ?? "";
  };
  return (
    <SecretForm title="New secret" secret="secret" action={action} submit="Create new secret" onClose={onClose}>
      <p>
        Messages to <strong class="name">{row.url}</strong> are signed with a new secret. For one day they also carry a signature
        with the old one.
      </p>
    </SecretForm>
  );
}

export function DeleteWebhook({ row, onClose }: Props) {
  const action = async () => {
    await call(`DELETE ${PATH}`, { path: pathOf(row) });
    showToast("Webhook deleted");
    onClose();
    await webhooks.load();
    focusTitle();
  };
  return (
    <Dialog title="Delete webhook?" onClose={onClose}>
      <Form action={action} submit="Delete webhook" danger onCancel={onClose}>
        <p>
          <strong class="name">{row.url ?? "A damaged webhook"}</strong> stops receiving events. Missed events are not delivered.
        </p>
      </Form>
    </Dialog>
  );
}

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** The secret of the signatures. */
const SecretDialog = ({ title, secret, onClose }: SecretProps) => (
  <ShownOnce title={title} secret="secret" onClose={onClose}>
    {(copySecret) => (
      <>
        <p>The receiver checks the signatures of messages with this secret. You won’t be able to see it again.</p>
        <div class="buttons">
          <button type="button" class="primary" onClick={() => copySecret("The secret", secret)}>
            <Icon name="copy" />
            Copy
          </button>
        </div>
        <pre class="token-text">{secret}</pre>
      </>
    )}
  </ShownOnce>
);
