import { PRESETS, PRESET_NAMES, type PresetName } from "@item-vault/model/workload-presets";
import { AdminList, type RowAction } from "./admin-list.tsx";
import { shortId } from "./filter.ts";
import { type WorkloadRow, workloads } from "./lists.ts";
import { PRESET_LABELS } from "./preset-labels.ts";
import { dayColumn, RowName, SCOPE_COLUMN, scopeTexts } from "./row-cells.tsx";
import { nameOfWorkload } from "./row-names.ts";
import { RuleForm } from "./rule-form.tsx";
import { call } from "../state/client.ts";
import { refreshHealth } from "../state/health.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { focusTitle } from "../ui/page.tsx";
import { useSignal } from "@preact/signals";
import type { NewIssuer } from "@item-vault/client";
import { explainQuota } from "./explain-quota.ts";
import { NameField } from "./name-field.tsx";

/** Workload identity (contract 27): the issuers whose tokens are exchanged, each with its rules. They are added, tested and deleted here. */

export const WorkloadsView = () => (
  <AdminList
    title="Workloads"
    noun="issuer or rule"
    list={workloads}
    empty="Let CI jobs and pods sign in without a stored token. Add the platform they run on."
    create={{ label: "Add issuer", dialog: (close) => <IssuerForm onClose={close} /> }}
    nameOf={nameOfWorkload}
    // The id is searched too, because the log names rules by it.
    textsOf={(row) => [nameOfWorkload(row), row.id, ...claimTexts(row), ...(row.kind === "rule" ? scopeTexts(row) : [])]}
    columns={COLUMNS}
    actions={ACTIONS}
  />
);

const COLUMNS = [
  { label: "Name", cell: (row: WorkloadRow) => <Name row={row} /> },
  { label: "Claims", cell: (row: WorkloadRow) => <Claims row={row} /> },
  {
    label: SCOPE_COLUMN.label,
    cell: (row: WorkloadRow) => (row.kind === "rule" ? SCOPE_COLUMN.cell(row) : <span class="quiet">{explainRules(row)}</span>),
  },
  dayColumn("Created"),
] as const;

const explainRules = ({ id }: WorkloadRow): string =>
  workloads.rows.value?.some((row) => "claims" in row && row.issuer === id)
    ? "Set by its rules"
    : "None: nothing can sign in before a rule is added";

const ACTIONS: readonly RowAction<WorkloadRow>[] = [
  {
    label: "Add rule",
    namedLabel: "Add rule for",
    visible: true,
    dialogOf: (row) => ("preset" in row ? (close) => <RuleForm issuer={row} onClose={close} /> : undefined),
  },
  ...(["issuer", "rule"] as const).map((kind): RowAction<WorkloadRow> => ({
    label: "Delete",
    namedLabel: `Delete ${kind}`,
    dialogOf: (row) =>
      row.kind === kind ? (close) => <DeleteWorkload row={row} name={nameOfWorkload(row)} onClose={close} /> : undefined,
  })),
];

/** Returns the details of a row that differ from most rows. */
function detailsOf(row: WorkloadRow): readonly string[] {
  if ("preset" in row) {
    const once = row.once === PRESETS[row.preset].once ? "" : `Each token ${row.once ? "once" : "several times"}`;
    return [`Issuer: ${PRESET_LABELS[row.preset]}`, once, row.jwks ? "With keys of its own" : ""].filter(Boolean);
  }
  if (!("claims" in row)) return [];
  const issuer = workloads.rows.value?.find(({ id }) => id === row.issuer);
  return [
    `Rule of ${issuer ? nameOfWorkload(issuer) : `issuer ${shortId(row.issuer)}`}`,
    row.people ? "For people" : `Tokens of ${Math.ceil(row.lifetime / 60)} min`,
    row.admin ? "Administrators" : "",
    row.dialect === "connect" ? "For clients of Connect" : "",
  ].filter(Boolean);
}

const Name = ({ row }: { readonly row: WorkloadRow }) => (
  <RowName row={row} name={nameOfWorkload(row)} only="deleted">
    {detailsOf(row).map((text) => (
      <span key={text} class="quiet">
        {text}
      </span>
    ))}
  </RowName>
);

/** The claims that tokens need, as `name = value`. A string is without quotation marks. */
const claimTexts = (row: WorkloadRow): readonly string[] =>
  "preset" in row
    ? [`iss = ${row.issuer}`]
    : "claims" in row
      ? Object.entries(row.claims).map(([name, value]) => `${name} = ${value}`)
      : [];

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

/** Deletes an issuer or a rule after a confirmation. */

interface Props {
  readonly row: WorkloadRow;
  readonly name: string;
  readonly onClose: () => void;
}

function DeleteWorkload({ row: { kind, id }, name, onClose }: Props) {
  const action = async () => {
    await (kind === "issuer"
      ? call("DELETE /v1/admin/issuers/{issuer}", { path: { issuer: id } })
      : call("DELETE /v1/admin/rules/{rule}", { path: { rule: id } }));
    showToast(kind === "issuer" ? "Issuer deleted" : "Rule deleted");
    onClose();
    refreshHealth();
    await workloads.load();
    focusTitle();
  };
  return (
    <Dialog title={`Delete ${kind}?`} onClose={onClose}>
      <Form action={action} submit={`Delete ${kind}`} danger onCancel={onClose}>
        <p>
          <strong class="name">{name}</strong> {kind === "issuer" && "and all its rules "}will be deleted. Workloads lose access
          with their next request. You can’t undo this.
        </p>
      </Form>
    </Dialog>
  );
}

/** Adds an issuer of workload tokens (contract 27.1). */

function IssuerForm({ onClose }: { readonly onClose: () => void }) {
  const preset = useSignal(PRESET_NAMES[0]!);
  const { url = "", once } = PRESETS[preset.value];
  const action = async (data: FormData) => {
    const body: NewIssuer = {
      name: textOf(data, "name"),
      issuer: textOf(data, "issuer"),
      preset: preset.value,
      ...(asksOnce(preset.value) && { once: data.has("once") }),
      ...parseKeys(textOf(data, "jwks")),
    };
    await call("POST /v1/admin/issuers", { body }).catch(explainQuota);
    onClose();
    showToast("Issuer added. Add a rule for each of its workloads.");
    void workloads.load();
  };
  return (
    <Dialog title="Add issuer" onClose={onClose}>
      <Form action={action} submit="Add issuer" onCancel={onClose}>
        <NameField placeholder="e.g. GitHub" />
        <label>
          Platform
          <select value={preset.value} onChange={(event) => (preset.value = event.currentTarget.value as PresetName)}>
            {PRESET_NAMES.map((name) => (
              <option key={name} value={name}>
                {PRESET_LABELS[name]}
              </option>
            ))}
          </select>
        </label>
        <label key={`${preset.value} URL`}>
          URL
          <input
            name="issuer"
            type="url"
            required
            pattern="https://.*"
            title="A URL that begins with https://"
            autocomplete="off"
            aria-describedby="issuer-help"
            defaultValue={url}
          />
        </label>
        <p id="issuer-help" class="quiet">
          Must match the <code>iss</code> claim exactly.
        </p>
        {asksOnce(preset.value) && (
          <label key={`${preset.value} once`} class="check">
            <input type="checkbox" name="once" defaultChecked={once} />
            Accept each of its tokens only once
          </label>
        )}
        <label>
          Public keys, if the service cannot fetch them
          <textarea name="jwks" rows={3} spellcheck={false} autocomplete="off" placeholder='{"keys": […]}' />
        </label>
      </Form>
    </Dialog>
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
