import { useSignal } from "@preact/signals";
import type { Issuer, NewIssuer } from "@item-vault/client";
import { PRESET_NAMES, type PresetName, PRESETS } from "@item-vault/model/workload-presets";
import { call } from "../state/client.ts";
import { Check, Field, Select } from "../ui/controls.tsx";
import { InputError, textOf } from "../ui/form.tsx";
import { ActDialog } from "./act-dialog.tsx";
import { shortId } from "./filter.ts";
import { nameOfWorkload, type WorkloadRow, workloads } from "./lists.ts";
import { NameField } from "./name-field.tsx";
import { AdminView, type DialogProps, ID_FACT, type RowsView, type Whole } from "./rows.tsx";
import { RuleForm } from "./rule-form.tsx";
import { dayColumn, SCOPE_COLUMN, scopeTexts } from "./scope-column.tsx";

/** Workload identity (contract 27): the issuers whose tokens are exchanged, each with its rules. They are added, tested and deleted here. */

export const WorkloadsView = () => (
  <AdminView
    title="Workloads"
    noun="issuer or rule"
    list={workloads}
    empty="Let CI jobs and pods sign in without a stored token. Add the platform they run on."
    create={{ label: "Add issuer", dialog: IssuerForm }}
    view={VIEW}
    // The id is searched too, because the log names rules by it.
    textsOf={(row) => [row.id, ...claimTexts(row), ...(row.kind === "rule" ? scopeTexts(row) : [])]}
  />
);

const VIEW: RowsView<WorkloadRow> = {
  name: "Name",
  nameOf: nameOfWorkload,
  notesOf,
  damaged: "It can only be deleted.",
  columns: [
    { label: "Claims", cell: (row) => <Claims row={row} /> },
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
  end: { label: "Delete", dialog: DeleteWorkload },
};

const explainRules = ({ id }: WorkloadRow) => (
  <span class="quiet">
    {workloads.rows.value?.some((row) => "claims" in row && row.issuer === id)
      ? "Set by its rules"
      : "None: nothing can sign in before a rule is added"}
  </span>
);

/** The presets of issuers, for people. */
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

const Claims = ({ row }: { readonly row: WorkloadRow }) =>
  "broken" in row ? (
    <>unknown</>
  ) : (
    <ul class="claim-texts">
      {claimTexts(row).map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );

function DeleteWorkload({ row, onClose }: DialogProps<WorkloadRow>) {
  const { kind, id } = row;
  const remove = () =>
    kind === "issuer"
      ? call("DELETE /v1/admin/issuers/{issuer}", { path: { issuer: id } })
      : call("DELETE /v1/admin/rules/{rule}", { path: { rule: id } });
  const texts = {
    title: `Delete ${kind}?`,
    submit: `Delete ${kind}`,
    done: kind === "issuer" ? "Issuer deleted" : "Rule deleted",
  };
  return (
    <ActDialog {...texts} danger act={remove} list={workloads} onClose={onClose}>
      <p>
        <strong class="name">{nameOfWorkload(row)}</strong> {kind === "issuer" && "and all its rules "}will be deleted. Workloads
        lose access with their next request. You can’t undo this.
      </p>
    </ActDialog>
  );
}

/** Adds an issuer of workload tokens (contract 27.1). */
function IssuerForm({ onClose }: { readonly onClose: () => void }) {
  const preset = useSignal(PRESET_NAMES[0]!);
  const { url = "", once } = PRESETS[preset.value];
  const act = (data: FormData) => {
    const body: NewIssuer = {
      name: textOf(data, "name"),
      issuer: textOf(data, "issuer"),
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
      <Select
        label="Platform"
        value={preset.value}
        options={PRESET_NAMES.map((name) => [name, PRESET_LABELS[name]])}
        onChange={(name) => (preset.value = name as PresetName)}
      />
      <Field
        key={`${preset.value} URL`}
        label="URL"
        name="issuer"
        type="url"
        required
        pattern="https://.*"
        title="A URL that begins with https://"
        help="issuer-help"
        defaultValue={url}
      />
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
