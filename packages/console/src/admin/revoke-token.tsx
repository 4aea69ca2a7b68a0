import { call } from "../api/client.ts";
import { reloadSession } from "../api/session.ts";
import { refreshHealth } from "../state/health.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { focusTitle } from "../ui/page.tsx";
import { type TokenRow, tokens } from "./lists.ts";

/** Revokes a token after a confirmation. */

interface Props {
  readonly token: TokenRow;
  readonly name: string;
  readonly onClose: () => void;
}

export function RevokeToken({ token, name, onClose }: Props) {
  const isOwn = session.value?.token?.id === token.id;
  const action = async () => {
    await call("DELETE /v1/admin/tokens/{token}", { path: { token: token.id } });
    showToast("Token revoked");
    onClose();
    refreshHealth();
    if (isOwn) await reloadSession().catch(() => undefined);
    await tokens.load();
    focusTitle();
  };
  return (
    <Dialog title="Revoke token" onClose={onClose}>
      <Form action={action} submit="Revoke token" danger onCancel={onClose}>
        <p>
          Anything that uses “<strong class="name">{name}</strong>” loses access immediately
          {"stale" in token && token.stale !== undefined && ` (cached reads: up to ${token.stale} s)`}. You can’t undo this.
        </p>
        {("broken" in token || token.delegate) && <p>All tokens below it stop working too.</p>}
        {isOwn && <p>Your own session uses this token: it loses access to its vaults.</p>}
      </Form>
    </Dialog>
  );
}
