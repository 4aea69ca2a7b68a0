import { useSignal } from "@preact/signals";
import type { Dialect, IssuedToken, NewToken } from "@item-vault/client";
import { call } from "../state/client.ts";
import { NameField } from "./name-field.tsx";
import { InputError, textOf } from "../ui/form.tsx";
import { SecretForm, ShownOnce } from "../ui/shown-once.tsx";
import { LifetimeField, parseLifetime } from "./lifetime-field.tsx";
import { tokens } from "./lists.ts";
import type { Entry } from "../state/search.ts";
import { ScopeField } from "./scope-field.tsx";
import { OPERATIONS, type Scope, setOperation } from "./scope.ts";
import { copy } from "../ui/clipboard.ts";
import { Icon } from "../ui/icon.tsx";
import { formatTime } from "../ui/time.ts";
import { LIMITS } from "@item-vault/model/limits";
import { entries, vaultName } from "../state/items.ts";
import { keepFocus } from "../ui/page.tsx";
import { isolate, presentText, titleOf } from "../ui/texts.ts";
import { shortId } from "./filter.ts";

/** Issues a token, then shows its text. */

type Kind = keyof typeof KINDS;

/** The purposes of tokens. A service binding only reads (contract 18.5). */
const KINDS = {
  uuid: { label: "Programs and the command line", dialect: "uuid", binding: false },
  connect: { label: "Clients of 1Password Connect", dialect: "connect", binding: false },
  binding: { label: "Service bindings of other Workers", dialect: "uuid", binding: true },
} as const satisfies Readonly<Record<string, { label: string; dialect: Dialect; binding: boolean }>>;

export function IssueToken({ onClose }: { readonly onClose: () => void }) {
  const issued = useSignal<IssuedToken | undefined>(undefined);
  const scope = useSignal<Scope>({});
  const only = useSignal<readonly Entry[]>([]);
  const kind = useSignal<Kind>("uuid");
  if (issued.value) return <IssuedTokenText issued={issued.value} onClose={onClose} />;
  const action = async (data: FormData) => {
    if (Object.keys(scope.value).length === 0) throw new InputError("Choose at least one vault.");
    const { dialect, binding } = KINDS[kind.value];
    const delegate = !binding && data.has("delegate");
    const vaults = limitScope(scope.value, only.value);
    const body = { name: textOf(data, "name"), vaults, dialect, binding, delegate, expiresIn: parseLifetime(data) };
    issued.value = (await call("POST /v1/admin/tokens", { body })).data;
    void tokens.load();
  };
  const setKind = (next: Kind) => {
    kind.value = next;
    if (KINDS[next].binding) scope.value = withoutWriting(scope.value);
  };
  return (
    <SecretForm title="Issue token" secret="token" action={action} submit="Issue token" onClose={onClose}>
      <NameField placeholder="e.g. github-deploy" />
      <label>
        For
        <select value={kind.value} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
          {Object.entries(KINDS).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <ScopeField
        value={scope.value}
        onChange={(next) => (scope.value = next)}
        operations={KINDS[kind.value].binding ? ["r"] : OPERATIONS}
      />
      <ItemLimits scope={scope.value} chosen={only.value} onChange={(next) => (only.value = next)} />
      <LifetimeField />
      {!KINDS[kind.value].binding && (
        <label class="check">
          <input type="checkbox" name="delegate" />
          Can issue tokens (they expire with this one)
        </label>
      )}
    </SecretForm>
  );
}

const withoutWriting = (scope: Scope): Scope =>
  ["w", "d"].reduce((kept, operation) => setOperation(kept, Object.keys(kept), operation as "w" | "d", false), scope);

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

function IssuedTokenText({ issued, onClose }: Props) {
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

/** The Items to which a token is limited in its vaults (contract 8.15), chosen among the Items that the session lists. */

const OPTIONS = "limit-items";
/** A browser is slow with a longer list. */
const OFFERED = 1_000;

/** Returns the text of an option, which the field holds once the option is chosen. */
const labelOf = ({ item }: Entry): string =>
  presentText([titleOf(item), vaultName(item.vault.id), shortId(item.id)].map(isolate).join(" · "));

interface ItemLimitsProps {
  /** The vaults that are chosen. */
  readonly scope: Scope;
  readonly chosen: readonly Entry[];
  readonly onChange: (chosen: readonly Entry[]) => void;
}

function ItemLimits({ scope, chosen, onChange }: ItemLimitsProps) {
  const possible = entries.value.filter(({ item }) => Object.hasOwn(scope, item.vault.id));
  if (possible.length === 0) return null;
  const left = possible.filter((entry) => !chosen.includes(entry)).slice(0, OFFERED);
  const add = (input: HTMLInputElement): void => {
    const entry = left.find((one) => labelOf(one) === input.value);
    if (!entry) return;
    input.value = "";
    onChange([...chosen, entry]);
  };
  const remove = (entry: Entry): void => {
    onChange(chosen.filter((one) => one !== entry));
    keepFocus();
  };
  return (
    <fieldset class="tag-editor">
      <legend>Only these items</legend>
      {chosen.length > 0 && (
        <ul class="tags">
          {chosen.map((entry) => (
            <li key={entry.key}>
              {titleOf(entry.item)}
              <button type="button" class="plain" aria-label={`Remove ${titleOf(entry.item)}`} onClick={() => remove(entry)}>
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <label>
        Item (leave empty for all items of the vaults)
        <input
          list={OPTIONS}
          autocomplete="off"
          disabled={chosen.length >= LIMITS.tokenItems}
          onInput={(event) => add(event.currentTarget)}
        />
      </label>
      <datalist id={OPTIONS}>
        {left.map((entry) => (
          <option key={entry.key}>{labelOf(entry)}</option>
        ))}
      </datalist>
    </fieldset>
  );
}

/** Returns a scope in which the vaults of chosen Items are limited to these. */
function limitScope(scope: Scope, chosen: readonly Entry[]): NonNullable<NewToken["vaults"]> {
  const byVault = Map.groupBy(chosen, ({ item }) => item.vault.id);
  return Object.fromEntries(
    Object.entries(scope).map(([vault, permissions]) => {
      const items = byVault.get(vault)?.map(({ item }) => item.id);
      return [vault, items ? { permissions, items } : permissions];
    }),
  );
}
