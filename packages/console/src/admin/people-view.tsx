import { AdminList, type RowAction } from "./admin-list.tsx";
import { people, type PersonRow } from "./lists.ts";
import { dayColumn, RowName, SCOPE_COLUMN, scopeTexts } from "./row-cells.tsx";
import { nameOfPerson } from "./row-names.ts";
import { session } from "../state/session.ts";
import { useSignal } from "@preact/signals";
import type { Person } from "@item-vault/client";
import { call } from "../state/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, textOf } from "../ui/form.tsx";
import { explainQuota } from "./explain-quota.ts";
import { ScopeField } from "./scope-field.tsx";
import type { Scope } from "./scope.ts";
import { refreshHealth } from "../state/health.ts";
import { focusTitle } from "../ui/page.tsx";

/** The people who sign in and their vaults. People are invited and removed here. */

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
        {"rule" in person && person.rule && <span class="quiet">Let in by a rule</span>}
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

/** Explains how people sign in, and the required settings, unless they are set. */
function AccessHelp({ open }: { readonly open: boolean }) {
  return (
    <details class="help" open={open}>
      <summary>How people sign in</summary>
      <p>
        People sign in here as usual in your organization, and get their vaults without a token. The activity log shows their
        email address. Besides the people whom you invite, a rule under Workloads can let in everyone of a group.
      </p>
      {session.value!.settings.people ? <p>This service is set up for it.</p> : <Setup />}
    </details>
  );
}

const Setup = () => (
  <p>
    This service is not set up for it yet: nobody on this list can sign in. It needs a client at your identity provider (OpenID
    Connect) and the settings <code>OIDC_ISSUER</code>, <code>OIDC_CLIENT_ID</code> and <code>OIDC_CLIENT_SECRET</code>, or
    Cloudflare Access with <code>ACCESS_TEAM</code> and <code>ACCESS_AUD</code>. They are described in{" "}
    <code>docs/configuration.md</code>. You can invite people before you set this up.
  </p>
);

/** Invites a person, or changes the vaults of one. */

interface Props {
  /** The person to change. Absent: a new person is invited. */
  readonly person?: Person;
  readonly onClose: () => void;
}

function PersonForm({ person, onClose }: Props) {
  const scope = useSignal<Scope>(person?.vaults ?? {});
  const action = async (data: FormData) => {
    const vaults = scope.value;
    const admin = data.get("admin") === "on";
    if (person) await call("PATCH /v1/admin/people/{person}", { path: { person: person.id }, body: { vaults, admin } });
    else await call("POST /v1/admin/people", { body: { email: textOf(data, "email"), vaults, admin } }).catch(explainQuota);
    onClose();
    showToast(person ? "Vaults changed" : "Person invited");
    void people.load();
  };
  return (
    <Dialog title={person ? "Change vaults" : "Invite person"} onClose={onClose}>
      <Form action={action} submit={person ? "Save" : "Invite person"} onCancel={onClose}>
        {person ? (
          <p>
            <strong class="name">{person.email}</strong> signs in again after a change.
            {person.rule && " From then on, the rule that let this person in no longer counts for them."}
          </p>
        ) : (
          <label>
            Email address
            <input
              name="email"
              inputMode="email"
              required
              pattern="\s*[^@\s]+@[^@\s]+\s*"
              title="An email address such as ada@example.com"
              maxLength={254}
              autocomplete="off"
            />
          </label>
        )}
        <label class="check">
          <input type="checkbox" name="admin" defaultChecked={person?.admin === true} aria-describedby="admin-help" />
          Administrator
        </label>
        <p id="admin-help" class="quiet">
          An administrator manages vaults, tokens and people from the command line:{" "}
          <code>item-vault login --browser --admin</code>
        </p>
        <ScopeField value={scope.value} onChange={(next) => (scope.value = next)} />
      </Form>
    </Dialog>
  );
}

/** Removes a person after a confirmation. */

interface RemovePersonProps {
  readonly person: PersonRow;
  readonly name: string;
  readonly onClose: () => void;
}

function RemovePerson({ person, name, onClose }: RemovePersonProps) {
  const action = async () => {
    await call("DELETE /v1/admin/people/{person}", { path: { person: person.id } });
    showToast("Person removed");
    onClose();
    refreshHealth();
    await people.load();
    focusTitle();
  };
  return (
    <Dialog title="Remove person?" onClose={onClose}>
      <Form action={action} submit="Remove person" danger onCancel={onClose}>
        <p>
          <strong class="name">{name}</strong> can’t sign in any more. Tokens they have copied still work: revoke those
          separately.
        </p>
      </Form>
    </Dialog>
  );
}
