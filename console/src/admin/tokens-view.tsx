import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Day } from "../ui/day.tsx";
import { Page } from "../ui/page.tsx";
import { formatFromNow } from "../ui/relative-time.ts";
import { Table } from "../ui/table.tsx";
import { formatTime } from "../ui/time.ts";
import { matches, shortId } from "./filter.ts";
import { IssueToken } from "./issue-token.tsx";
import { ListContent } from "./list-content.tsx";
import { adminVaults, BROKEN, type TokenRow, tokens } from "./lists.ts";
import { RevokeToken } from "./revoke-token.tsx";
import { namedScope, ScopeCell } from "./scope-cell.tsx";
import { SearchRows } from "./search-rows.tsx";

/** The tokens of the service: what each may open and until when, issuing and revoking them. */

/** A longer table is slow, and nobody reads it: it is searched. */
const MOST = 200;

export function TokensView() {
  const query = useSignal("");
  const ended = useSignal(false);
  const issuing = useSignal(false);
  const revoking = useSignal<TokenRow | undefined>(undefined);
  // The tokens name their vaults by id.
  useEffect(() => void adminVaults.load(), []);
  const issue = (
    <button type="button" class="primary" onClick={() => (issuing.value = true)}>
      Issue token
    </button>
  );
  return (
    <Page title="Tokens" actions={issue}>
      <ListContent
        list={tokens}
        empty={<p class="empty">There are no tokens yet. Issue one for each program or person that uses the API.</p>}
      >
        {(rows) => {
          const found = rows
            .filter((token) => ended.value || !hasEnded(token))
            .filter((token) => matchesToken(query.value, token));
          return (
            <>
              <SearchRows label="Search tokens" query={query}>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={ended.value}
                    onChange={(event) => (ended.value = event.currentTarget.checked)}
                  />
                  Show ended
                </label>
              </SearchRows>
              {found.length === 0 ? (
                <p class="empty">No token matches.</p>
              ) : (
                <Table
                  label="Tokens"
                  rows={found.slice(0, MOST)}
                  keyOf={({ id }) => id}
                  columns={COLUMNS}
                  actions={(token) => (
                    <button
                      type="button"
                      class="danger"
                      aria-label={`Revoke ${nameOfToken(token)}`}
                      onClick={() => (revoking.value = token)}
                    >
                      Revoke
                    </button>
                  )}
                />
              )}
              {found.length > MOST && <p class="quiet">{found.length - MOST} more tokens are found by searching.</p>}
            </>
          );
        }}
      </ListContent>
      {issuing.value && <IssueToken onClose={() => (issuing.value = false)} />}
      {revoking.value && (
        <RevokeToken token={revoking.value} name={nameOfToken(revoking.value)} onClose={() => (revoking.value = undefined)} />
      )}
    </Page>
  );
}

const COLUMNS = [
  { label: "Name", cell: (token: TokenRow) => <Name token={token} /> },
  { label: "Vaults", cell: (token: TokenRow) => ("broken" in token ? "unknown" : <ScopeCell scope={token.vaults} />) },
  { label: "Expires", cell: (token: TokenRow) => <Expiry token={token} /> },
  { label: "Created", cell: ({ createdAt }: TokenRow) => <Day time={createdAt} /> },
] as const;

/** The kinds of tokens that are told apart; the others are those of most programs. */
const kindsOf = (token: TokenRow): readonly string[] =>
  "broken" in token
    ? []
    : [token.dialect === "connect" ? "For clients of Connect" : "", token.binding ? "For service bindings" : ""].filter(Boolean);

function Name({ token }: { readonly token: TokenRow }) {
  return (
    <>
      <span class="name">{nameOfToken(token)}</span>
      {"broken" in token && <span class="broken">{BROKEN[token.broken]} It can only be revoked.</span>}
      {kindsOf(token).map((kind) => (
        <span key={kind} class="quiet">
          {kind}
        </span>
      ))}
    </>
  );
}

function Expiry({ token: { expiresAt, endedAt } }: { readonly token: TokenRow }) {
  const time = endedAt ?? expiresAt;
  return (
    <time dateTime={time} title={formatTime(time)} class={endedAt ? "day quiet" : "day"}>
      {endedAt && "ended "}
      {formatFromNow(time, Date.now())}
    </time>
  );
}

const hasEnded = ({ endedAt }: TokenRow): boolean => endedAt !== undefined;

const nameOfToken = (token: TokenRow): string => ("broken" in token ? `Damaged token ${shortId(token.id)}` : token.name);

/** The id is searched too, because the log of the API names tokens by it. */
const matchesToken = (query: string, token: TokenRow): boolean =>
  matches(query, nameOfToken(token), token.id, ...("broken" in token ? [] : namedScope(token.vaults).map(([name]) => name)));
