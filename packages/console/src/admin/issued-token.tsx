import type { Dialect, IssuedToken } from "@item-vault/client";
import { copy } from "../ui/clipboard.ts";
import { Icon } from "../ui/icon.tsx";
import { ShownOnce } from "../ui/shown-once.tsx";
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
  return (
    <ShownOnce title="Token issued" secret={token === undefined ? undefined : "token"} onClose={onClose}>
      {(copySecret) => (
        <>
          <p>
            <strong class="name">{name}</strong> is valid until {formatTime(expiresAt)}.
          </p>
          {token === undefined ? <Binding id={issued.id} /> : <Texts issued={issued} token={token} onCopy={copySecret} />}
        </>
      )}
    </ShownOnce>
  );
}

interface TextsProps {
  readonly issued: IssuedToken;
  readonly token: string;
  readonly onCopy: (what: string, text: string) => void;
}

function Texts({ issued, token, onCopy }: TextsProps) {
  const [hostVariable, tokenVariable] = VARIABLES[issued.dialect];
  const lines = `export ${hostVariable}=${location.origin}\nexport ${tokenVariable}=${token}`;
  return (
    <>
      <p>Copy it now. You won’t be able to see it again.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => onCopy("Token", token)}>
          <Icon name="copy" />
          Copy token
        </button>
        <button type="button" onClick={() => onCopy("Lines", lines)}>
          <Icon name="copy" />
          Copy as shell variables
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
      <p>A token for service bindings has no text. The binding of the other Worker names its ID:</p>
      <pre class="token-text">{id}</pre>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void copy("ID", id, { secret: false })}>
          <Icon name="copy" />
          Copy ID
        </button>
      </div>
    </>
  );
}
