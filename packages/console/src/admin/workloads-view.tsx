import { PRESETS } from "@item-vault/model/workload-presets";
import { AdminList, type RowAction } from "./admin-list.tsx";
import { DeleteWorkload } from "./delete-workload.tsx";
import { shortId } from "./filter.ts";
import { IssuerForm } from "./issuer-form.tsx";
import { type WorkloadRow, workloads } from "./lists.ts";
import { PRESET_LABELS } from "./preset-labels.ts";
import { dayColumn, RowName, SCOPE_COLUMN, scopeTexts } from "./row-cells.tsx";
import { nameOfWorkload } from "./row-names.ts";
import { RuleForm } from "./rule-form.tsx";

/** Workload identity (contract 27): the issuers whose tokens are exchanged, each with its rules; adding, testing and deleting them. */

export const WorkloadsView = () => (
  <AdminList
    title="Workloads"
    noun="row"
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
    cell: (row: WorkloadRow) => (row.kind === "rule" ? SCOPE_COLUMN.cell(row) : <span class="quiet">set by its rules</span>),
  },
  dayColumn("Added"),
] as const;

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

/** What a row is, and how it differs from most. */
function detailsOf(row: WorkloadRow): readonly string[] {
  if ("preset" in row) {
    const once = row.once === PRESETS[row.preset].once ? "" : `Each token ${row.once ? "once" : "several times"}`;
    return [`Issuer: ${PRESET_LABELS[row.preset]}`, once, row.jwks ? "With keys of its own" : ""].filter(Boolean);
  }
  if (!("claims" in row)) return [];
  const issuer = workloads.rows.value?.find(({ id }) => id === row.issuer);
  return [
    `Rule of ${issuer ? nameOfWorkload(issuer) : `issuer ${shortId(row.issuer)}`}`,
    `Tokens of ${Math.ceil(row.lifetime / 60)} min`,
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
