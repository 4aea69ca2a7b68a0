import type { Issuer, NewIssuer, NewRule, PastExchange } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { type Permit, PRESET_NAMES, type PresetName, PRESETS } from "@item-vault/model/workload-presets";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { call } from "../state/client.ts";
import { showToast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Check, Field, Select } from "../ui/controls.tsx";
import { FromNow } from "../ui/day.tsx";
import { FormDialog, InputError, textOf } from "../ui/form.tsx";
import { List } from "../ui/lists.tsx";
import { afterRender } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { type Column, Table } from "../ui/table.tsx";
import { ActDialog, type Closable, ending, NameField, parseLifetime, RULE_LIFETIMES, ScopeField, UrlField } from "./dialogs.tsx";
import { nameOfWorkload, shortId, type WorkloadRow, workloads } from "./lists.ts";
import { type AdminList, AdminView, dayColumn, ID_FACT, SCOPE_COLUMN, scopeTexts, type Whole } from "./rows.tsx";
import type { Scope } from "./scope.ts";

/** Workload identity (contract 27): the issuers whose tokens are exchanged, each with its rules. They are added, tested and deleted here. */

export const WorkloadsView = () => <AdminView view={VIEW} />;

const VIEW: AdminList<WorkloadRow> = {
  title: "Workloads",
  list: workloads,
  empty: "Let CI jobs and pods sign in without a stored token. Add the platform they run on.",
  create: { label: "Add issuer", dialog: IssuerForm },
  // The id is searched too, because the log names rules by it.
  textsOf: (row) => [row.id, ...claimTexts(row), ...(row.kind === "rule" ? scopeTexts(row) : [])],
  name: "Name",
  nameOf: nameOfWorkload,
  notesOf,
  damaged: "It can only be deleted.",
  columns: [
    {
      label: "Claims",
      cell: (row) => ("broken" in row ? "unknown" : <List class="claim-texts" rows={claimTexts(row)} />),
    },
    {
      label: SCOPE_COLUMN.label,
      cell: (row) => (row.kind === "rule" ? SCOPE_COLUMN.cell(row) : explainRules(row)),
      full: (row) => (row.kind === "rule" ? SCOPE_COLUMN.full(row) : explainRules(row)),
    },
  ],
  facts: [dayColumn("Created"), ID_FACT],
  acts: [
    {
      label: "Add rule",
      inTable: true,
      when: ({ kind }) => kind === "issuer",
      dialog: ({ row, onClose }) => <RuleForm issuer={row as Issuer} onClose={onClose} />,
    },
  ],
  end: ending({
    verb: "Delete",
    noun: ({ kind }) => kind,
    list: workloads,
    run: ({ kind, id }) =>
      kind === "issuer"
        ? call("DELETE /v1/admin/issuers/{issuer}", { path: { issuer: id } })
        : call("DELETE /v1/admin/rules/{rule}", { path: { rule: id } }),
    text: (row) => (
      <>
        <strong class="name">{nameOfWorkload(row)}</strong> {row.kind === "issuer" && "and all its rules "}will be deleted.
        Workloads lose access with their next request. You can’t undo this.
      </>
    ),
  }),
};

const explainRules = ({ id }: WorkloadRow) => (
  <span class="quiet">
    {workloads.rows.value?.some((row) => "claims" in row && row.issuer === id)
      ? "Set by its rules"
      : "None: nothing can sign in before a rule is added"}
  </span>
);

const PRESET_LABELS: Readonly<Record<PresetName, string>> = {
  github: "GitHub Actions",
  gitlab: "GitLab CI",
  buildkite: "Buildkite",
  kubernetes: "Kubernetes",
  generic: "Another platform",
};

/** Returns the details of a row that differ from most rows. */
function notesOf(row: Whole<WorkloadRow>): readonly (string | false | undefined)[] {
  if (row.kind === "issuer")
    return [
      `Issuer: ${PRESET_LABELS[row.preset]}`,
      row.once !== PRESETS[row.preset].once && `Each token ${row.once ? "once" : "several times"}`,
      row.jwks && "With keys of its own",
    ];
  const issuer = workloads.rows.value?.find(({ id }) => id === row.issuer);
  return [
    `Rule of ${issuer ? nameOfWorkload(issuer) : `issuer ${shortId(row.issuer)}`}`,
    row.people ? "For people" : `Tokens of ${Math.ceil(row.lifetime / 60)} min`,
    row.admin && "Administrators",
    row.dialect === "connect" && "For clients of Connect",
  ];
}

/** The claims that tokens need, as `name = value`. A string is without quotation marks. */
const claimTexts = (row: WorkloadRow): readonly string[] =>
  "broken" in row
    ? []
    : row.kind === "issuer"
      ? [`iss = ${row.issuer}`]
      : Object.entries(row.claims).map(([name, value]) => `${name} = ${value}`);

/** Adds an issuer of workload tokens (contract 27.1). */
function IssuerForm({ onClose }: Closable) {
  const preset = useSignal(PRESET_NAMES[0]!);
  const { url = "", once } = PRESETS[preset.value];
  const act = (data: FormData) => {
    const body: NewIssuer = {
      name: textOf(data, "name"),
      issuer: textOf(data, "url"),
      preset: preset.value,
      ...(asksOnce(preset.value) && { once: data.has("once") }),
      ...parseKeys(textOf(data, "jwks")),
    };
    return call("POST /v1/admin/issuers", { body });
  };
  const texts = { title: "Add issuer", submit: "Add issuer", done: "Issuer added. Add a rule for each of its workloads." };
  return (
    <ActDialog {...texts} act={act} list={workloads} onClose={onClose}>
      <NameField placeholder="e.g. GitHub" />
      <Select label="Platform" signal={preset} options={PRESET_NAMES.map((name) => [name, PRESET_LABELS[name]])} />
      <UrlField key={`${preset.value} URL`} help="issuer-help" defaultValue={url} />
      <p id="issuer-help" class="quiet">
        Must match the <code>iss</code> claim exactly.
      </p>
      {asksOnce(preset.value) && (
        <Check key={`${preset.value} once`} name="once" label="Accept each of its tokens only once" defaultChecked={once} />
      )}
      <label>
        Public keys, if the service cannot fetch them
        <textarea name="jwks" rows={3} spellcheck={false} autocomplete="off" placeholder='{"keys": […]}' />
      </label>
    </ActDialog>
  );
}

/** Returns true if a workload may present a token again. Elsewhere each job requests new tokens, so one exchange suffices. */
const asksOnce = (preset: PresetName): boolean => preset === "generic" || !PRESETS[preset].once;

/** Parses a JWK set (RFC 7517 section 5), if there is one. Throws an InputError without any part of the text, which may be a private key. */
function parseKeys(text: string): Pick<NewIssuer, "jwks"> {
  if (text.trim() === "") return {};
  try {
    return { jwks: JSON.parse(text) as NonNullable<NewIssuer["jwks"]> }; // The service says what is wrong with it.
  } catch {
    throw new InputError("The public keys must be a JWK set in JSON, as the platform publishes it.");
  }
}

/** Adds a rule of an issuer (contract 27.3), after a test that shows which recent tokens it matches. */

const PERMIT_LABELS: Readonly<Record<Permit, string>> = {
  anyRepository: "For every repository of the owner",
  allowSubject: "The subject (sub) may be the only claim",
};

function RuleForm({ issuer, onClose }: Closable & { readonly issuer: Issuer }) {
  const isForPeople = useSignal(false);
  const forPeople = isForPeople.value;
  // The preset of a platform does not tell which claims identify a person.
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
    <FormDialog title="Add rule" action={action} submit={tested.value ? "Add rule" : "Test rule"} onClose={onClose}>
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
        <ScopeField scope={scope} />
        {!forPeople && (
          <Select
            label="Its tokens expire after"
            name="lifetime"
            options={RULE_LIFETIMES}
            defaultValue={LIMITS.ruleLifetimeDefault}
          />
        )}
        {forPeople ? (
          <Check name="admin" label="Administrators" />
        ) : (
          <Check name="connect" label="For clients of 1Password Connect" />
        )}
      </div>
      {tested.value && <RuleTest key={tested.value.rule} tokens={tested.value.tokens} />}
    </FormDialog>
  );
}

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
  // It is read before the rule is added: if the same button showed it, the next key press would add the rule.
  useLayoutEffect(() => {
    summary.current?.focus({ preventScroll: true });
    summary.current?.scrollIntoView({ block: "center" }); // The buttons of the form cover the bottom of the page.
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

function ClaimFields({ needed, onChange }: Readonly<{ needed: readonly string[]; onChange: () => void }>) {
  // The keys of the other claims. A rule without claims is refused.
  const others = useSignal<readonly number[]>(needed.length === 0 ? [0] : []);
  const fields = useRef<HTMLFieldSetElement>(null);
  /** Changes the claims. `focused` is the element with the focus after the change. */
  const change = (next: readonly number[], focused: string) => {
    others.value = next;
    onChange();
    afterRender(() => fields.current?.querySelector<HTMLElement>(focused)?.focus());
  };
  const remove = (key: number) => {
    const left = others.value.filter((one) => one !== key);
    change(left, ADD);
  };
  const add = () => change([...others.value, Math.max(-1, ...others.value) + 1], NEWEST);
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
          <Button text="×" label={`Remove claim ${index + 1}`} class="plain" onClick={() => remove(key)} />
        </fieldset>
      ))}
      <Button text="Add claim" class="add" onClick={add} />
    </fieldset>
  );
}

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
