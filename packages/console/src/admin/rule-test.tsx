import { plural } from "../ui/plural.ts";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PastExchange } from "@item-vault/client";
import { formatFromNow } from "../ui/relative-time.ts";
import { Table } from "../ui/table.tsx";
import { formatTime } from "../ui/time.ts";

/** Which of the last tokens of an issuer a rule would match (contract 27.5). */
export function RuleTest({ tokens }: { readonly tokens: readonly PastExchange[] }) {
  const summary = useRef<HTMLParagraphElement>(null);
  // It is read before the rule is added: the button that showed it would add the rule at the next key press.
  useLayoutEffect(() => {
    summary.current?.focus({ preventScroll: true });
    summary.current?.scrollIntoView({ block: "center" }); // The buttons of the form cover what is at the bottom.
  }, []);
  const matching = tokens.filter(({ matches }) => matches).length;
  return (
    <>
      <p ref={summary} tabIndex={-1}>
        {tokens.length === 0
          ? "No token of this issuer was used in the last 24 hours, so the rule could not be tested. You can still add it."
          : `The rule matches ${matching} of the last ${plural(tokens.length, "token")} of this issuer.`}
      </p>
      {tokens.length > 0 && (
        <Table
          label="The last tokens of the issuer"
          rows={tokens.map((token, index) => ({ ...token, key: String(index) }))}
          keyOf={({ key }) => key}
          columns={COLUMNS}
        />
      )}
    </>
  );
}

const COLUMNS = [
  {
    label: "Presented",
    cell: ({ at }: PastExchange) => (
      <time dateTime={at} title={formatTime(at)}>
        {formatFromNow(at, Date.now())}
      </time>
    ),
  },
  {
    label: "The rule",
    cell: ({ matches, failed }: PastExchange) => (matches ? "matches" : `does not match: ${failed.join(", ")}`),
  },
] as const;
