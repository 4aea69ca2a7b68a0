import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Day } from "../ui/day.tsx";
import { Page } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { AccessHelp } from "./access-help.tsx";
import { matches, shortId } from "./filter.ts";
import { ListContent } from "./list-content.tsx";
import { adminVaults, BROKEN, people, type PersonRow } from "./lists.ts";
import { PersonForm } from "./person-form.tsx";
import { RemovePerson } from "./remove-person.tsx";
import { namedScope, ScopeCell } from "./scope-cell.tsx";
import { SearchRows } from "./search-rows.tsx";

/** The people who sign in with Cloudflare Access: what each may open, inviting and removing them. */

type Shown = { readonly dialog: "invite" } | { readonly dialog: "change" | "remove"; readonly person: PersonRow };

/** More people get a field that searches them. */
const MANY = 8;

export function PeopleView() {
  const shown = useSignal<Shown | undefined>(undefined);
  const query = useSignal("");
  const close = () => (shown.value = undefined);
  // The people have their vaults by id.
  useEffect(() => void adminVaults.load(), []);
  const invite = (
    <button type="button" class="primary" onClick={() => (shown.value = { dialog: "invite" })}>
      Invite person
    </button>
  );
  return (
    <Page title="People" actions={invite}>
      <ListContent list={people} empty={<p class="empty">Nobody is invited yet.</p>}>
        {(rows) => (
          <>
            {rows.length > MANY && <SearchRows label="Search people" query={query} />}
            <Table
              label="People"
              rows={rows.filter((person) => matchesPerson(query.value, person))}
              keyOf={({ id }) => id}
              columns={COLUMNS}
              actions={(person) => (
                <>
                  {!("broken" in person) && (
                    <button
                      type="button"
                      aria-label={`Change vaults of ${person.email}`}
                      onClick={() => (shown.value = { dialog: "change", person })}
                    >
                      Change vaults
                    </button>
                  )}
                  <button
                    type="button"
                    class="danger"
                    aria-label={`Remove ${nameOfPerson(person)}`}
                    onClick={() => (shown.value = { dialog: "remove", person })}
                  >
                    Remove
                  </button>
                </>
              )}
            />
          </>
        )}
      </ListContent>
      <AccessHelp open={people.rows.value?.length === 0} />
      {shown.value?.dialog === "invite" && <PersonForm onClose={close} />}
      {shown.value?.dialog === "change" && !("broken" in shown.value.person) && (
        <PersonForm person={shown.value.person} onClose={close} />
      )}
      {shown.value?.dialog === "remove" && (
        <RemovePerson person={shown.value.person} name={nameOfPerson(shown.value.person)} onClose={close} />
      )}
    </Page>
  );
}

const COLUMNS = [
  { label: "Email", cell: (person: PersonRow) => <Name person={person} /> },
  { label: "Vaults", cell: (person: PersonRow) => ("broken" in person ? "unknown" : <ScopeCell scope={person.vaults} />) },
  { label: "Invited", cell: ({ createdAt }: PersonRow) => <Day time={createdAt} /> },
] as const;

function Name({ person }: { readonly person: PersonRow }) {
  return (
    <>
      <span class="name">{nameOfPerson(person)}</span>
      {"broken" in person && <span class="broken">{BROKEN[person.broken]} It can only be removed.</span>}
    </>
  );
}

const nameOfPerson = (person: PersonRow): string => ("broken" in person ? `Damaged person ${shortId(person.id)}` : person.email);

const matchesPerson = (query: string, person: PersonRow): boolean =>
  matches(query, nameOfPerson(person), ...("broken" in person ? [] : namedScope(person.vaults).map(([name]) => name)));
