import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { endsSoon } from "@item-vault/model/ending";
import { call } from "../state/client.ts";
import { session } from "../state/session.ts";
import { reloadSession } from "../state/sign-in.ts";
import { Check } from "../ui/controls.tsx";
import { FromNow } from "../ui/day.tsx";
import { lazy } from "../ui/lazy.tsx";
import { formatTime } from "../ui/time.ts";
import { ending } from "./dialogs.tsx";
import { IssueToken } from "./issue-token.tsx";
import { nameOfToken, people, shortId, type TokenRow, tokens } from "./lists.ts";
import { type AdminList, AdminView, dayColumn, ID_FACT, SCOPE_COLUMN, scopeTexts } from "./rows.tsx";

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
