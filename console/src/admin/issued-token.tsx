import { useSignal } from "@preact/signals";
import type { Dialect, IssuedToken } from "@item-vault/client";
import { copy } from "../ui/clipboard.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { formatTime } from "../ui/time.ts";

/** The text of a new token, which no later answer contains. It leaves the page with the dialog. */

/** The variables that the clients of a dialect read. */
const VARIABLES: Readonly<Record<Dialect, readonly [host: string, token: string]>> = {
  uuid: ["ITEM_VAULT_HOST", "ITEM_VAULT_TOKEN"],
  connect: ["OP_CONNECT_HOST", "OP_CONNECT_TOKEN"],
};

interface Props {
  readonly issued: IssuedToken;
  readonly onClose: () => void;
}

export function IssuedTokenText({ issued, onClose }: Props) {
  const { name, expiresAt, token } = issued;
  const copied = useSignal(false);
  const warned = useSignal(false);
  const close = () => {
    if (token === undefined || copied.value || warned.value) onClose();
    else warned.value = true;
  };
  return (
    <Dialog title="Token issued" onClose={close}>
      <div class="dialog-form">
        <p>
          <strong class="name">{name}</strong> is valid until {formatTime(expiresAt)}.
        </p>
        {token === undefined ? (
          <Binding id={issued.id} />
        ) : (
          <Texts issued={issued} token={token} onCopied={() => (copied.value = true)} />
        )}
        {warned.value && !copied.value && (
          <p class="failure" role="alert">
            You have not copied the token. When this is closed, nobody can see it again.
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={close}>
            {warned.value && !copied.value ? "Close without copying" : "Done"}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Texts({
  issued,
  token,
  onCopied,
}: {
  readonly issued: IssuedToken;
  readonly token: string;
  readonly onCopied: () => void;
}) {
  const [hostVariable, tokenVariable] = VARIABLES[issued.dialect];
  const lines = `export ${hostVariable}=${location.origin}\nexport ${tokenVariable}=${token}`;
  const copyText = async (what: string, text: string) => {
    if (await copy(what, text)) onCopied();
  };
  return (
    <>
      <p>Copy it now: it is shown only here.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void copyText("Token", token)}>
          <Icon name="copy" />
          Copy token
        </button>
        <button type="button" onClick={() => void copyText("Lines", lines)}>
          <Icon name="copy" />
          Copy lines for a shell
        </button>
      </div>
      <pre class="token-text">{lines}</pre>
    </>
  );
}

/** A token for service bindings has no text: the binding names it by its id (contract 18). */
function Binding({ id }: { readonly id: string }) {
  return (
    <>
      <p>A token for service bindings has no text. The binding of the other Worker names its id:</p>
      <pre class="token-text">{id}</pre>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void copy("Id", id, { secret: false })}>
          <Icon name="copy" />
          Copy id
        </button>
      </div>
    </>
  );
}
