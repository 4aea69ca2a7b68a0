import { type Signal, useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { endsSoon } from "@item-vault/model/ending";
import { lazy } from "../ui/lazy.tsx";
import { formatFromNow } from "../ui/relative-time.ts";
import { formatTime } from "../ui/time.ts";
import { AdminList, type RowAction } from "./admin-list.tsx";
import { shortId } from "./filter.ts";
import { IssueToken } from "./issue-token.tsx";
import { people, type TokenRow, tokens } from "./lists.ts";
import { dayColumn, RowName, SCOPE_COLUMN, scopeTexts } from "./row-cells.tsx";
import { nameOfToken } from "./row-names.ts";
import { vaultLabel } from "./vault-names.ts";
import { call } from "../state/client.ts";
import { reloadSession } from "../state/sign-in.ts";
import { refreshHealth } from "../state/health.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { focusTitle } from "../ui/page.tsx";

/** The tokens of the service, with their vaults and expiry. Tokens are issued and revoked here. */

export function TokensView() {
  const ended = useSignal(false);
  const soon = useSignal(false);
  useLayoutEffect(() => void people.load(), []);
  return (
    <AdminList
      title="Tokens"
      noun="token"
      list={tokens}
      empty="No tokens yet. Issue one for each program or person."
      create={{ label: "Issue token", dialog: (close) => <IssueToken onClose={close} /> }}
      nameOf={nameOfToken}
      // The id is searched too, because the log of the API names tokens by it.
      textsOf={(token) => [nameOfToken(token), token.id, ...scopeTexts(token)]}
      columns={COLUMNS}
      actions={ACTIONS}
      isShown={(token) => (soon.value ? isEnding(token) : ended.value || token.endedAt === undefined)}
      filters={
        <>
          <Check label="Show expired" checked={ended} />
          <Check label="Expiring soon" checked={soon} />
        </>
      }
    />
  );
}

const Check = ({ label, checked }: { readonly label: string; readonly checked: Signal<boolean> }) => (
  <label class="check">
    <input type="checkbox" checked={checked.value} onChange={(event) => (checked.value = event.currentTarget.checked)} />
    {label}
  </label>
);

/** Returns true for a token that /health counts as expiring. */
const isEnding = ({ createdAt, expiresAt, endedAt }: TokenRow): boolean =>
  endedAt === undefined && endsSoon(Date.parse(createdAt), Date.parse(expiresAt), Date.now());

const COLUMNS = [
  { label: "Name", cell: (token: TokenRow) => <Name token={token} /> },
  SCOPE_COLUMN,
  { label: "Expires", cell: (token: TokenRow) => <Expiry token={token} /> },
  dayColumn("Created"),
] as const;

interface ActivityProps {
  readonly id: string;
  readonly name: string;
  readonly nameOfVault: (id: string) => string;
  readonly onClose: () => void;
}

const TokenActivity = lazy<ActivityProps>(() => import("../activity/token-activity.tsx").then((module) => module.TokenActivity));

const ACTIONS: readonly RowAction<TokenRow>[] = [
  {
    label: "Activity",
    namedLabel: "Activity of",
    only: "shows",
    dialogOf: (token) =>
      "broken" in token
        ? undefined
        : (close) => <TokenActivity id={token.id} name={token.name} nameOfVault={vaultLabel} onClose={close} />,
  },
  {
    label: "Revoke",
    dialogOf: (token) => (close) => <RevokeToken token={token} name={nameOfToken(token)} onClose={close} />,
  },
];

/** Returns the notable kinds of a token; most tokens have none. */
const kindsOf = (token: TokenRow): readonly string[] =>
  "broken" in token
    ? []
    : [
        token.dialect === "connect" ? "For clients of Connect" : "",
        token.binding ? "For service bindings" : "",
        token.delegate ? "Can issue tokens" : "",
        token.backupsOnly ? "Only reads backups" : token.admin ? "For administration" : "",
        token.parent === undefined ? "" : originOf(token.parent),
      ].filter(Boolean);

/** Returns the origin of a token: another token of the list, a person's login, or a missing token. */
function originOf(id: string): string {
  const token = tokens.rows.value?.find((one) => one.id === id);
  if (token) return `Issued by ${nameOfToken(token)}`;
  return people.rows.value?.some((person) => person.id === id) ? "Login of a person" : `Issued by token ${shortId(id)}`;
}

const Name = ({ token }: { readonly token: TokenRow }) => (
  <RowName row={token} name={nameOfToken(token)} only="revoked">
    {kindsOf(token).map((kind) => (
      <span key={kind} class="quiet">
        {kind}
      </span>
    ))}
  </RowName>
);

function Expiry({ token }: { readonly token: TokenRow }) {
  const { expiresAt, endedAt } = token;
  const time = endedAt ?? expiresAt;
  const look = endedAt ? "quiet" : isEnding(token) ? "state warning" : "";
  return (
    <time dateTime={time} title={formatTime(time)} class={`day ${look}`}>
      {endedAt && "ended "}
      {formatFromNow(time, Date.now())}
    </time>
  );
}

/** Revokes a token after a confirmation. */

interface Props {
  readonly token: TokenRow;
  readonly name: string;
  readonly onClose: () => void;
}

function RevokeToken({ token, name, onClose }: Props) {
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
    <Dialog title="Revoke token?" onClose={onClose}>
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
