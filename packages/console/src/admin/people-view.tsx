import { AccessHelp } from "./access-help.tsx";
import { AdminList, type RowAction } from "./admin-list.tsx";
import { people, type PersonRow } from "./lists.ts";
import { PersonForm } from "./person-form.tsx";
import { RemovePerson } from "./remove-person.tsx";
import { dayColumn, RowName, SCOPE_COLUMN, scopeTexts } from "./row-cells.tsx";
import { nameOfPerson } from "./row-names.ts";

/** The people who sign in with Cloudflare Access: what each may open, inviting and removing them. */

export const PeopleView = () => (
  <AdminList
    title="People"
    noun="person"
    list={people}
    empty="Invite your team."
    create={{ label: "Invite person", dialog: (close) => <PersonForm onClose={close} /> }}
    nameOf={nameOfPerson}
    textsOf={(person) => [nameOfPerson(person), ...scopeTexts(person)]}
    columns={COLUMNS}
    actions={ACTIONS}
    below={<AccessHelp open={people.rows.value?.length === 0} />}
  />
);

const COLUMNS = [
  {
    label: "Email",
    cell: (person: PersonRow) => (
      <RowName row={person} name={nameOfPerson(person)} only="removed">
        {"admin" in person && person.admin && <span class="quiet">Administrator</span>}
      </RowName>
    ),
  },
  SCOPE_COLUMN,
  dayColumn("Invited"),
] as const;

const ACTIONS: readonly RowAction<PersonRow>[] = [
  {
    label: "Change vaults",
    namedLabel: "Change vaults of",
    dialogOf: (person) => ("broken" in person ? undefined : (close) => <PersonForm person={person} onClose={close} />),
  },
  {
    label: "Remove",
    dialogOf: (person) => (close) => <RemovePerson person={person} name={nameOfPerson(person)} onClose={close} />,
  },
];
