import { useSignal } from "@preact/signals";
import type { Dialect, IssuedToken } from "@item-vault/client";
import { call } from "../api/client.ts";
import { NameField } from "./name-field.tsx";
import { InputError, textOf } from "../ui/form.tsx";
import { SecretForm } from "../ui/shown-once.tsx";
import { IssuedTokenText } from "./issued-token.tsx";
import { LifetimeField, parseLifetime } from "./lifetime-field.tsx";
import { tokens } from "./lists.ts";
import type { Entry } from "../state/search.ts";
import { ItemLimits, limitScope } from "./item-limits.tsx";
import { ScopeField } from "./scope-field.tsx";
import { OPERATIONS, type Scope, setOperation } from "./scope.ts";

/** Issues a token, then shows its text. */

type Kind = keyof typeof KINDS;

/** What a token is for. A service binding only reads (contract 18.5). */
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
