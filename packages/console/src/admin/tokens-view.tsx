import type { Dialect, IssuedToken, NewToken } from "@item-vault/client";
import { endsSoon } from "@item-vault/model/ending";
import { LIMITS } from "@item-vault/model/limits";
import { useSignal, type Signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { call } from "../state/client.ts";
import { itemKey } from "../state/item-key.ts";
import { session } from "../state/session.ts";
import { reloadSession } from "../state/sign-in.ts";
import { Button } from "../ui/button.tsx";
import { copy } from "../ui/clipboard.ts";
import { Check, Select } from "../ui/controls.tsx";
import { FromNow } from "../ui/day.tsx";
import { InputError, textOf } from "../ui/form.tsx";
import { ItemField, itemNamed, type NamedItem } from "../ui/item-field.tsx";
import { lazy } from "../ui/lazy.tsx";
import { afterRender } from "../ui/page.tsx";
import { SecretForm, ShownOnce } from "../ui/shown-once.tsx";
import { named, presentText } from "../ui/texts.ts";
import { formatTime } from "../ui/time.ts";
import { ending, type Closable, LifetimeField, NameField, parseLifetime, ScopeField } from "./dialogs.tsx";
import { nameOfToken, people, shortId, type TokenRow, tokens, vaultLabel } from "./lists.ts";
import { type AdminList, AdminView, dayColumn, ID_FACT, SCOPE_COLUMN, scopeTexts } from "./rows.tsx";
import { OPERATIONS, type Scope, setOperation } from "./scope.ts";

/** The tokens of the service, with their vaults and expiry. Tokens are issued and revoked here. */

export function TokensView() {
  const ended = useSignal(false);
  const soon = useSignal(false);
  useLayoutEffect(() => void people.load(), []);
  const filters = [
    <Check key="expired" label="Show expired" checked={ended.value} onChange={(is) => (ended.value = is)} />,
    <Check key="soon" label="Expiring soon" checked={soon.value} onChange={(is) => (soon.value = is)} />,
  ];
  return (
    <AdminView
      view={VIEW}
      isShown={(token) => (soon.value ? isEnding(token) : ended.value || token.endedAt === undefined)}
      filters={filters}
    />
  );
}

/** Returns true for a token that /health counts as expiring. */
const isEnding = ({ createdAt, expiresAt, endedAt }: TokenRow): boolean =>
  endedAt === undefined && endsSoon(Date.parse(createdAt), Date.parse(expiresAt), Date.now());

function Expiry({ token }: { readonly token: TokenRow }) {
  const { expiresAt, endedAt } = token;
  return (
    <>
      {endedAt && "ended "}
      <FromNow time={endedAt ?? expiresAt} class={endedAt ? "quiet" : isEnding(token) ? "state warning" : ""} />
    </>
  );
}

/** Returns the origin of a token: another token of the list, a person's login, or a missing token. */
function originOf(id: string): string {
  const token = tokens.rows.value?.find((one) => one.id === id);
  if (token) return `Issued by ${nameOfToken(token)}`;
  return people.rows.value?.some((person) => person.id === id) ? "Login of a person" : `Issued by token ${shortId(id)}`;
}

const TokenActivity = lazy(() => import("../activity/histories.tsx"), "TokenActivity");

const VIEW: AdminList<TokenRow> = {
  title: "Tokens",
  list: tokens,
  empty: "No tokens yet. Issue one for each program or person.",
  create: { label: "Issue token", dialog: IssueToken },
  // The id is searched too, because the log of the API names tokens by it.
  textsOf: (token) => [token.id, ...scopeTexts(token)],
  name: "Name",
  nameOf: nameOfToken,
  // Most tokens are of none of these kinds.
  notesOf: (token) => [
    token.dialect === "connect" && "For clients of Connect",
    token.binding && "For service bindings",
    token.delegate && "Can issue tokens",
    token.backupsOnly ? "Only reads backups" : token.adminRead ? "Only reads settings" : token.admin && "For administration",
    token.parent !== undefined && originOf(token.parent),
  ],
  damaged: "It can only be revoked.",
  columns: [
    SCOPE_COLUMN,
    {
      label: "Expires",
      cell: (token) => <Expiry token={token} />,
      full: (token) => (
        <>
          <Expiry token={token} /> <span class="quiet">{formatTime(token.endedAt ?? token.expiresAt)}</span>
        </>
      ),
    },
  ],
  facts: [dayColumn("Created"), ID_FACT],
  end: ending({
    verb: "Revoke",
    noun: () => "token",
    list: tokens,
    run: revoke,
    text: (token) => (
      <>
        Anything that uses “<strong class="name">{nameOfToken(token)}</strong>” loses access immediately
        {"stale" in token && token.stale !== undefined && ` (cached reads: up to ${token.stale} s)`}. You can’t undo this.
        {("broken" in token || token.delegate) && " All tokens below it stop working too."}
        {isOwn(token) && " Your own session uses this token: it loses access to its vaults."}
      </>
    ),
  }),
  sections: [{ label: "Activity", content: TokenActivity }],
};

const isOwn = ({ id }: TokenRow): boolean => session.value?.token?.id === id;

async function revoke(token: TokenRow): Promise<void> {
  const wasOwn = isOwn(token);
  await call("DELETE /v1/admin/tokens/{token}", { path: { token: token.id } });
  if (wasOwn) await reloadSession().catch(() => undefined);
}

type Kind = keyof typeof KINDS;

/** The purposes of tokens. A service binding only reads (contract 18.5). */
const KINDS = {
  uuid: { label: "Programs and the command line", dialect: "uuid", binding: false },
  connect: { label: "Clients of 1Password Connect", dialect: "connect", binding: false },
  binding: { label: "Service bindings of other Workers", dialect: "uuid", binding: true },
} as const satisfies Readonly<Record<string, { label: string; dialect: Dialect; binding: boolean }>>;
const KIND_OPTIONS = Object.entries(KINDS).map(([name, { label }]) => [name as Kind, label] as const);

function IssueToken({ onClose }: Closable) {
  const issued = useSignal<IssuedToken | undefined>(undefined);
  const scope = useSignal<Scope>({});
  const limits = useSignal(NONE);
  const kind = useSignal<Kind>("uuid");
  if (issued.value) return <IssuedTokenText issued={issued.value} onClose={onClose} />;
  const action = async (data: FormData) => {
    if (Object.keys(scope.value).length === 0) throw new InputError("Choose at least one vault.");
    const { dialect, binding } = KINDS[kind.value];
    const delegate = !binding && data.has("delegate");
    // Otherwise the token would open more than intended.
    const all = withTyped(limits.value, scope.value);
    if (!all) throw new InputError(UNKNOWN);
    const vaults = limitScope(scope.value, (limits.value = all).chosen);
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
      <Select label="For" value={kind.value} options={KIND_OPTIONS} onChange={setKind} />
      <ScopeField scope={scope} operations={KINDS[kind.value].binding ? ["r"] : OPERATIONS} />
      <ItemLimits scope={scope.value} limits={limits} />
      <LifetimeField />
      {!KINDS[kind.value].binding && <Check name="delegate" label="Can issue tokens (they expire with this one)" />}
    </SecretForm>
  );
}

const withoutWriting = (scope: Scope): Scope =>
  ["w", "d"].reduce((kept, operation) => setOperation(kept, Object.keys(kept), operation as "w" | "d", false), scope);

/** The variables that the clients of a dialect read. */
const VARIABLES: Readonly<Record<Dialect, readonly [host: string, token: string]>> = {
  uuid: ["ITEM_VAULT_HOST", "ITEM_VAULT_TOKEN"],
  connect: ["OP_CONNECT_HOST", "OP_CONNECT_TOKEN"],
};

/** The text of a new token, which no later answer contains. It leaves the page with the dialog. */
function IssuedTokenText({ issued, onClose }: Closable & { readonly issued: IssuedToken }) {
  const { id, name, dialect, expiresAt, token } = issued;
  const [hostVariable, tokenVariable] = VARIABLES[dialect];
  const lines = `export ${hostVariable}=${location.origin}\nexport ${tokenVariable}=${token}`;
  return (
    <ShownOnce title="Token issued" secret={token === undefined ? undefined : "token"} onClose={onClose}>
      {(copySecret) => (
        <>
          <p>
            <strong class="name">{name}</strong> is valid until {formatTime(expiresAt)}.
          </p>
          <p>
            {/* The binding names the token by its id (contract 18). */}
            {token === undefined
              ? "A token for service bindings has no text. The binding of the other Worker names its ID."
              : "Copy it now. You won’t be able to see it again."}
          </p>
          <div class="buttons">
            {token === undefined ? (
              <Button icon="copy" text="Copy ID" class="primary" onClick={() => void copy("ID", id, { secret: false })} />
            ) : (
              <>
                <Button icon="copy" text="Copy token" class="primary" onClick={() => copySecret("Token", token)} />
                <Button icon="copy" text="Copy as shell variables" onClick={() => copySecret("Lines", lines)} />
              </>
            )}
          </div>
          <pre class="token-text">{token === undefined ? id : lines}</pre>
        </>
      )}
    </ShownOnce>
  );
}

/** The Items to which a token is limited in its vaults (contract 8.15). Their ids are unique in a vault only. */
type Limits = Readonly<{ chosen: readonly LimitItem[]; typed: string }>;

type LimitItem = NamedItem & { readonly vault: string };

const NONE: Limits = { chosen: [], typed: "" };
const UNKNOWN = "Choose an item from the list, or enter its ID. If several vaults are chosen, enter op://VAULT/ID.";

const vaultsOf = (scope: Scope) => Object.keys(scope).map((id) => ({ id, name: vaultLabel(id) }));

/** Returns the limits with the typed Item added. Returns undefined if the text names none. */
function withTyped({ chosen, typed }: Limits, scope: Scope): Limits | undefined {
  if (typed.trim() === "") return { chosen, typed: "" };
  const item = itemNamed(typed, vaultsOf(scope));
  if (item?.vault === undefined) return undefined;
  const others = chosen.filter(({ id, vault }) => id !== item.id || vault !== item.vault);
  return { chosen: [...others, item as LimitItem], typed: "" };
}

function ItemLimits({ scope, limits }: { readonly scope: Scope; readonly limits: Signal<Limits> }) {
  const { typed } = limits.value;
  const among = vaultsOf(scope);
  if (among.length === 0) return null;
  const chosen = limits.value.chosen.filter(({ vault }) => Object.hasOwn(scope, vault));
  const whole = among.filter(({ id }) => chosen.every(({ vault }) => vault !== id));
  const type = (text: string, isWhole: boolean) => {
    const next = { ...limits.value, typed: text };
    limits.value = (isWhole && withTyped(next, scope)) || next;
  };
  /** A text that names no Item is refused by the form. */
  const onKeyDown = (event: KeyboardEvent) => {
    const next = event.key === "Enter" && typed !== "" && withTyped(limits.value, scope);
    if (!next) return;
    event.preventDefault();
    limits.value = next;
  };
  const remove = (item: LimitItem) => {
    limits.value = { typed, chosen: limits.value.chosen.filter((one) => one !== item) };
    afterRender(() => document.getElementById(FIELD)?.focus());
  };
  const nameOf = ({ title, id, vault }: LimitItem): string => {
    const parts = [title ?? `Item ${shortId(id)}`, ...(among.length > 1 ? [vaultLabel(vault)] : [])];
    return presentText(parts.map(named).join(" · "));
  };
  return (
    <fieldset class="tag-editor">
      <legend>Only these items</legend>
      {chosen.length > 0 && (
        <ul class="tags">
          {chosen.map((item) => (
            <li key={itemKey(item.vault, item.id)}>
              {nameOf(item)}
              <Button text="×" label={`Remove ${nameOf(item)}`} class="plain" onClick={() => remove(item)} />
            </li>
          ))}
        </ul>
      )}
      <ItemField
        id={FIELD}
        label="Title, ID or reference of an item (leave empty for all items of the vaults)"
        among={among}
        value={typed}
        disabled={chosen.length >= LIMITS.tokenItems}
        onInput={type}
        onKeyDown={onKeyDown}
      />
      {chosen.length > 0 && whole.length > 0 && (
        <p class="quiet explanation">And all items of {presentText(whole.map(({ name }) => named(name)).join(", "))}</p>
      )}
    </fieldset>
  );
}

const FIELD = "limit-item";

/** Returns a scope in which the vaults of chosen Items are limited to these. */
function limitScope(scope: Scope, chosen: readonly LimitItem[]): NonNullable<NewToken["vaults"]> {
  const byVault = Map.groupBy(chosen, ({ vault }) => vault);
  return Object.fromEntries(
    Object.entries(scope).map(([vault, permissions]) => {
      const items = byVault.get(vault)?.map(({ id }) => id);
      return [vault, items ? { permissions, items } : permissions];
    }),
  );
}
