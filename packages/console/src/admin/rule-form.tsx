import { useSignal } from "@preact/signals";
import type { Issuer, NewRule, PastExchange } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { type Permit, PRESETS } from "@item-vault/model/workload-presets";
import { call } from "../state/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { parseLifetime, RULE_LIFETIMES } from "./lifetime-field.tsx";
import { workloads } from "./lists.ts";
import { NameField } from "./name-field.tsx";
import { ScopeField } from "./scope-field.tsx";
import type { Scope } from "./scope.ts";
import { plural } from "../ui/plural.ts";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatFromNow } from "../ui/relative-time.ts";
import { Table } from "../ui/table.tsx";
import { formatTime } from "../ui/time.ts";
import { afterRender } from "../ui/after-render.ts";

/** Adds a rule of an issuer (contract 27.3), after a test that shows which recent tokens it matches. */

const PERMIT_LABELS: Readonly<Record<Permit, string>> = {
  anyRepository: "For every repository of the owner",
  allowSubject: "The subject (sub) may be the only claim",
};

interface Props {
  readonly issuer: Issuer;
  readonly onClose: () => void;
}

export function RuleForm({ issuer, onClose }: Props) {
  const isForPeople = useSignal(false);
  // Which claims name a person, the preset of a platform does not say.
  const { required, permitted } = PRESETS[isForPeople.value ? "generic" : issuer.preset];
  const scope = useSignal<Scope>({});
  const chosen = useSignal<Permit | undefined>(undefined);
  /** The tested rule, as a text, and the result of its test. A change of the form removes it. */
  const tested = useSignal<{ readonly rule: string; readonly tokens: readonly PastExchange[] } | undefined>(undefined);
  const forget = () => (tested.value = undefined);
  const permit = permitted?.permit === chosen.value ? permitted : undefined;
  const action = async (data: FormData) => {
    const permits = { ...(permit && { [permit.permit]: true }), ...(isForPeople.value && { people: true }) };
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
            {isForPeople.value ? "People" : "Jobs"} whose <strong class="name">{issuer.name}</strong> token matches all of these
            claims {isForPeople.value ? "can sign in." : "get a token for this service."}
          </p>
          <Check label="For people who sign in" checked={isForPeople.value} onChange={(is) => (isForPeople.value = is)} />
          <NameField placeholder={isForPeople.value ? "e.g. platform team" : "e.g. deploy job"} />
          <ClaimFields key={String(isForPeople.value)} needed={(permit ?? { required }).required} onChange={forget} />
          {permitted && (
            <Check
              label={PERMIT_LABELS[permitted.permit]}
              checked={permit !== undefined}
              onChange={(is) => (chosen.value = is ? permitted.permit : undefined)}
            />
          )}
          <ScopeField value={scope.value} onChange={(next) => (scope.value = next)} />
          {isForPeople.value ? <NamedCheck name="admin" label="Administrators" /> : <OfTokens />}
        </div>
        {tested.value && <RuleTest key={tested.value.rule} tokens={tested.value.tokens} />}
      </Form>
    </Dialog>
  );
}

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

const Check = ({ label, checked, onChange }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
);

const NamedCheck = ({ name, label }: { readonly name: string; readonly label: string }) => (
  <label class="check">
    <input type="checkbox" name={name} />
    {label}
  </label>
);

const OfTokens = () => (
  <>
    <Lifetime />
    <NamedCheck name="connect" label="For clients of 1Password Connect" />
  </>
);

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

/** The claims of a rule: those that the issuer's preset needs, and further ones. */

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
  const add = () => change([...others.value, Math.max(-1, ...others.value) + 1], NEWEST);
  const remove = (key: number) => {
    const left = others.value.filter((one) => one !== key);
    change(left, ADD);
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
        <OtherClaim key={key} number={index + 1} onRemove={() => remove(key)} />
      ))}
      <button type="button" class="add" onClick={add}>
        Add claim
      </button>
    </fieldset>
  );
}

function OtherClaim({ number, onRemove }: { readonly number: number; readonly onRemove: () => void }) {
  return (
    <fieldset class="claim" aria-label={`Claim ${number}`}>
      <label>
        Name
        <input name="claim" required autocomplete="off" placeholder="sub" />
      </label>
      <label>
        Type
        <select name="kind">
          <option value="text">Text</option>
          <option value="json">Number, true or false</option>
        </select>
      </label>
      <label>
        Value
        <input name="value" autocomplete="off" />
      </label>
      <button type="button" class="plain" aria-label={`Remove claim ${number}`} onClick={onRemove}>
        ×
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
