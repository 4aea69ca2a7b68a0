import { useSignal } from "@preact/signals";
import { call } from "../state/client.ts";
import { session } from "../state/session.ts";
import { Check, Field } from "../ui/controls.tsx";
import { textOf } from "../ui/form.tsx";
import { ActDialog, type Closable, type DialogProps, ending, ScopeField } from "./dialogs.tsx";
import { nameOfPerson, people, type PersonRow } from "./lists.ts";
import { type AdminList, AdminView, dayColumn, ID_FACT, SCOPE_COLUMN, scopeTexts, type Whole } from "./rows.tsx";
import type { Scope } from "./scope.ts";

/** The people who sign in and their vaults. People are invited and removed here. */

export const PeopleView = () => <AdminView view={VIEW} below={<AccessHelp open={people.rows.value?.length === 0} />} />;

const VIEW: AdminList<PersonRow> = {
  title: "People",
  list: people,
  empty: "Invite your team.",
  create: { label: "Invite person", dialog: PersonForm },
  textsOf: scopeTexts,
  name: "Email",
  nameOf: nameOfPerson,
  notesOf: ({ admin, rule }) => [admin && "Administrator", rule && "Let in by a rule"],
  damaged: "It can only be removed.",
  columns: [SCOPE_COLUMN, dayColumn("Invited")],
  facts: [ID_FACT],
  acts: [{ label: "Change vaults", dialog: PersonForm }],
  end: ending({
    verb: "Remove",
    noun: () => "person",
    list: people,
    run: ({ id }) => call("DELETE /v1/admin/people/{person}", { path: { person: id } }),
    text: (person) => (
      <>
        <strong class="name">{nameOfPerson(person)}</strong> can’t sign in any more. Tokens they have copied still work: revoke
        those separately.
      </>
    ),
  }),
};

const AccessHelp = ({ open }: { readonly open: boolean }) => (
  <details class="help" open={open}>
    <summary>How people sign in</summary>
    <p>
      People sign in here as usual in your organization, and get their vaults without a token. The activity log shows their email
      address. Besides the people whom you invite, a rule under Workloads can let in everyone of a group.
    </p>
    {session.value!.settings.people ? (
      <p>This service is set up for it.</p>
    ) : (
      <p>
        This service is not set up for it yet: nobody on this list can sign in. It needs a client at your identity provider
        (OpenID Connect) and the settings <code>OIDC_ISSUER</code>, <code>OIDC_CLIENT_ID</code> and{" "}
        <code>OIDC_CLIENT_SECRET</code>, or Cloudflare Access with <code>ACCESS_TEAM</code> and <code>ACCESS_AUD</code>. They are
        described in <code>docs/configuration.md</code>. You can invite people before you set this up.
      </p>
    )}
  </details>
);

function PersonForm({ row: person, onClose }: Partial<DialogProps<Whole<PersonRow>>> & Closable) {
  const scope = useSignal<Scope>(person?.vaults ?? {});
  const act = (data: FormData) => {
    const body = { vaults: scope.value, admin: data.has("admin") };
    return person
      ? call("PATCH /v1/admin/people/{person}", { path: { person: person.id }, body })
      : call("POST /v1/admin/people", { body: { email: textOf(data, "email"), ...body } });
  };
  const texts = person
    ? { title: "Change vaults", submit: "Save", done: "Vaults changed" }
    : { title: "Invite person", submit: "Invite person", done: "Person invited" };
  return (
    <ActDialog {...texts} act={act} list={people} onClose={onClose}>
      {person ? (
        <p>
          <strong class="name">{person.email}</strong> signs in again after a change.
          {person.rule && " The rule that let this person in then no longer applies to them."}
        </p>
      ) : (
        <Field
          label="Email address"
          name="email"
          inputMode="email"
          required
          pattern="\s*[^@\s]+@[^@\s]+\s*"
          title="An email address such as ada@example.com"
          maxLength={254}
        />
      )}
      <Check label="Administrator" name="admin" defaultChecked={person?.admin === true} />
      <p class="quiet">
        An administrator manages vaults, tokens and people from the command line: <code>item-vault login --browser --admin</code>
      </p>
      <ScopeField scope={scope} />
    </ActDialog>
  );
}
