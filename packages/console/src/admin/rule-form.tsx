import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Issuer, NewRule, PastExchange } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { type Permit, PRESETS } from "@item-vault/model/workload-presets";
import { call } from "../state/client.ts";
import { showToast } from "../state/toasts.ts";
import { afterRender } from "../ui/after-render.ts";
import { Check, Field, Select } from "../ui/controls.tsx";
import { FromNow } from "../ui/day.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { type Column, Table } from "../ui/table.tsx";
import { parseLifetime } from "./lifetime-field.tsx";
import { RULE_LIFETIMES } from "./lifetimes.ts";
import { workloads } from "./lists.ts";
import { NameField } from "./name-field.tsx";
import { ScopeField } from "./scope-field.tsx";
import type { Scope } from "./scope.ts";

/** Adds a rule of an issuer (contract 27.3), after a test that shows which recent tokens it matches. */

const PERMIT_LABELS: Readonly<Record<Permit, string>> = {
  anyRepository: "For every repository of the owner",
  allowSubject: "The subject (sub) may be the only claim",
};

const LIFETIMES = RULE_LIFETIMES.map(([label, seconds]) => [seconds, label] as const);

interface Props {
  readonly issuer: Issuer;
  readonly onClose: () => void;
}

export function RuleForm({ issuer, onClose }: Props) {
  const isForPeople = useSignal(false);
  const forPeople = isForPeople.value;
  // Which claims name a person, the preset of a platform does not say.
  const { required, permitted } = PRESETS[forPeople ? "generic" : issuer.preset];
  const scope = useSignal<Scope>({});
  const chosen = useSignal<Permit | undefined>(undefined);
  /** The tested rule, as a text, and the result of its test. A change of the form removes it. */
  const tested = useSignal<{ readonly rule: string; readonly tokens: readonly PastExchange[] } | undefined>(undefined);
  const forget = () => (tested.value = undefined);
  const permit = permitted?.permit === chosen.value ? permitted : undefined;
  const action = async (data: FormData) => {
    const permits = { ...(permit && { [permit.permit]: true }), ...(forPeople && { people: true }) };
    const body = { ...parseRule(data, scope.value), issuer: issuer.id, ...permits };
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
            {forPeople ? "People" : "Jobs"} whose <strong class="name">{issuer.name}</strong> token matches all of these claims{" "}
            {forPeople ? "can sign in." : "get a token for this service."}
          </p>
          <Check label="For people who sign in" checked={forPeople} onChange={(is) => (isForPeople.value = is)} />
          <NameField placeholder={forPeople ? "e.g. platform team" : "e.g. deploy job"} />
          <ClaimFields key={String(forPeople)} needed={(permit ?? { required }).required} onChange={forget} />
          {permitted && (
            <Check
              label={PERMIT_LABELS[permitted.permit]}
              checked={permit !== undefined}
              onChange={(is) => (chosen.value = is ? permitted.permit : undefined)}
            />
          )}
          <ScopeField value={scope.value} onChange={(next) => (scope.value = next)} />
          {forPeople ? <Check name="admin" label="Administrators" /> : <OfTokens />}
        </div>
        {tested.value && <RuleTest key={tested.value.rule} tokens={tested.value.tokens} />}
      </Form>
    </Dialog>
  );
}

const OfTokens = () => (
  <>
    <Select label="Its tokens expire after" name="lifetime" options={LIFETIMES} defaultValue={LIMITS.ruleLifetimeDefault} />
    <Check name="connect" label="For clients of 1Password Connect" />
  </>
);

/** Parses the fields of the form. Throws an InputError. */
function parseRule(data: FormData, vaults: Scope): Omit<NewRule, "issuer"> {
  const admin = data.has("admin");
  if (Object.keys(vaults).length === 0 && !admin) throw new InputError("Choose at least one vault.");
  const rule = { name: textOf(data, "name"), claims: parseClaims(data), vaults };
  if (!data.has("lifetime")) return { ...rule, ...(admin && { admin }) };
  return { ...rule, lifetime: parseLifetime(data), dialect: data.has("connect") ? "connect" : "uuid" };
}

/** Shows which recent tokens of an issuer a rule would match (contract 27.5). */
function RuleTest({ tokens }: { readonly tokens: readonly PastExchange[] }) {
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
          rows={tokens}
          keyOf={(token) => String(tokens.indexOf(token))}
          columns={COLUMNS}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<PastExchange>[] = [
  { label: "Presented", cell: ({ at }) => <FromNow time={at} /> },
  { label: "The rule", cell: ({ matches, failed }) => (matches ? "matches" : `does not match: ${failed.join(", ")}`) },
];

/** The claims of a rule: those that the issuer's preset needs, and further ones. */

const CLAIM_KINDS = { text: "Text", json: "Number, true or false" } as const;
const ADD = ".add";
const NEWEST = ".claim:last-of-type input";

interface ClaimFieldsProps {
  /** The names of the claims that the rule needs. */
  readonly needed: readonly string[];
  /** A claim was added or removed. */
  readonly onChange: () => void;
}

function ClaimFields({ needed, onChange }: ClaimFieldsProps) {
  // The keys of the other claims. A rule without claims is refused.
  const others = useSignal<readonly number[]>(needed.length === 0 ? [0] : []);
  const fields = useRef<HTMLFieldSetElement>(null);
  /** Changes the claims. `focused` is the element with the focus after the change. */
  const change = (next: readonly number[], focused: string) => {
    others.value = next;
    onChange();
    afterRender(() => fields.current?.querySelector<HTMLElement>(focused)?.focus());
  };
  return (
    <fieldset ref={fields} class="claims">
      <legend>Claims</legend>
      {needed.map((name) => (
        <label key={name}>
          {name}
          <input type="hidden" name="claim" value={name} />
          <input type="hidden" name="kind" value="text" />
          <input name="value" required autocomplete="off" />
        </label>
      ))}
      {others.value.map((key, index) => (
        <fieldset key={key} class="claim" aria-label={`Claim ${index + 1}`}>
          <Field label="Name" name="claim" required placeholder="sub" />
          <Select label="Type" name="kind" options={Object.entries(CLAIM_KINDS)} />
          <Field label="Value" name="value" />
          <button
            type="button"
            class="plain"
            aria-label={`Remove claim ${index + 1}`}
            onClick={() =>
              change(
                others.value.filter((one) => one !== key),
                ADD,
              )
            }
          >
            ×
          </button>
        </fieldset>
      ))}
      <button type="button" class="add" onClick={() => change([...others.value, Math.max(-1, ...others.value) + 1], NEWEST)}>
        Add claim
      </button>
    </fieldset>
  );
}

/** Returns the claims in a form's data. Throws an InputError. */
function parseClaims(data: FormData): NewRule["claims"] {
  const [names, kinds, values] = ["claim", "kind", "value"].map((field) => data.getAll(field).map(String)) as [
    string[],
    string[],
    string[],
  ];
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new InputError(`The claim ${twice} appears twice.`);
  return Object.fromEntries(
    names.map((name, index) => [name, kinds[index] === "json" ? parseJson(name, values[index]!.trim()) : values[index]!]),
  );
}

function parseJson(name: string, text: string): number | boolean {
  if (text === "true" || text === "false") return text === "true";
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InputError(`The value of ${name} must be a whole number, true or false.`);
}
