import { useSignal } from "@preact/signals";
import type { LoginCode } from "@item-vault/client";
import { session } from "../state/session.ts";
import { Page } from "../ui/page.tsx";
import { CodeForm } from "./code-form.tsx";
import { NoPerson } from "./facts.tsx";
import { MadeCode } from "./made-code.tsx";

/** Where a person makes a code that logs in a terminal, and sees who has used it (contract 28.5). No address has the code. */

export function TerminalView() {
  const made = useSignal<LoginCode | undefined>(undefined);
  const isPerson = session.value!.person !== undefined;
  return (
    <Page title="Connect a terminal">
      {!isPerson && <NoPerson />}
      {isPerson && !made.value && <CodeForm onMade={(code) => (made.value = code)} />}
      {made.value && <MadeCode key={made.value.id} code={made.value} onAgain={() => (made.value = undefined)} />}
    </Page>
  );
}
