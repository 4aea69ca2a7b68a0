import { useSignal } from "@preact/signals";
import type { Issuer, NewRule, PastExchange } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { type Permit, PRESETS } from "@item-vault/model/workload-presets";
import { call } from "../api/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { ClaimFields, parseClaims } from "./claim-fields.tsx";
import { parseLifetime } from "./lifetime-field.tsx";
import { RULE_LIFETIMES } from "./lifetimes.ts";
import { workloads } from "./lists.ts";
import { NameField } from "./name-field.tsx";
import { RuleTest } from "./rule-test.tsx";
import { ScopeField } from "./scope-field.tsx";
import type { Scope } from "./scope.ts";

/** Adds a rule of an issuer (contract 27.3), after a test that shows which of the last tokens it matches. */

const PERMIT_LABELS: Readonly<Record<Permit, string>> = {
  anyRepository: "For every repository of the owner",
  allowSubject: "The subject (sub) may be the only claim",
};

interface Props {
  readonly issuer: Issuer;
  readonly onClose: () => void;
}

export function RuleForm({ issuer, onClose }: Props) {
  const { required, permitted } = PRESETS[issuer.preset];
  const scope = useSignal<Scope>({});
  const isPermitted = useSignal(false);
  /** The rule that was tested, as a text, and what the test has shown. A change of the form removes it. */
  const tested = useSignal<{ readonly rule: string; readonly tokens: readonly PastExchange[] } | undefined>(undefined);
  const forget = () => (tested.value = undefined);
  const permit = isPermitted.value ? permitted : undefined;
  const action = async (data: FormData) => {
    const body = { ...parseRule(data, scope.value), issuer: issuer.id, ...(permit && { [permit.permit]: true }) };
    const rule = JSON.stringify(body);
    if (tested.value?.rule === rule) {
      await call("POST /v1/admin/rules", { body });
      onClose();
      showToast("Rule added");
      void workloads.load();
    } else {
      tested.value = { rule, tokens: (await call("POST /v1/admin/rules/test", { body })).data };
    }
  };
  return (
    <Dialog title="Add rule" onClose={onClose}>
      <Form action={action} submit={tested.value ? "Add rule" : "Test rule"} onCancel={onClose}>
        <div class="dialog-form" onInput={forget}>
          <p>
            Jobs whose <strong class="name">{issuer.name}</strong> token matches all of these claims get a token for this service.
          </p>
          <NameField placeholder="e.g. deploy job" />
          <ClaimFields needed={(permit ?? { required }).required} onChange={forget} />
          {permitted && (
            <label class="check">
              <input
                type="checkbox"
                checked={isPermitted.value}
                onChange={(event) => (isPermitted.value = event.currentTarget.checked)}
              />
              {PERMIT_LABELS[permitted.permit]}
            </label>
          )}
          <ScopeField value={scope.value} onChange={(next) => (scope.value = next)} />
          <Lifetime />
          <label class="check">
            <input type="checkbox" name="connect" />
            For clients of 1Password Connect
          </label>
        </div>
        {tested.value && <RuleTest key={tested.value.rule} tokens={tested.value.tokens} />}
      </Form>
    </Dialog>
  );
}

const Lifetime = () => (
  <label>
    Its tokens expire after
    <select name="lifetime">
      {RULE_LIFETIMES.map(([label, seconds]) => (
        <option key={seconds} value={seconds} selected={seconds === LIMITS.ruleLifetimeDefault}>
          {label}
        </option>
      ))}
    </select>
  </label>
);

/** What the fields of the form have. Errors: an InputError. */
function parseRule(data: FormData, vaults: Scope): Omit<NewRule, "issuer"> {
  if (Object.keys(vaults).length === 0) throw new InputError("Choose at least one vault.");
  const dialect = data.has("connect") ? "connect" : "uuid";
  return { name: textOf(data, "name"), claims: parseClaims(data), vaults, lifetime: parseLifetime(data), dialect };
}
