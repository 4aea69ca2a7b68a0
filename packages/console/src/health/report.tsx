import type { Dependency, Health } from "@item-vault/client";
import { Table } from "../ui/table.tsx";
import { nameOfPart } from "./facts.ts";
import { State } from "./state.tsx";

/** The report of /health as it is, for whoever operates the service. It is open when something is wrong. */

export const Report = ({ health: { name, version, dependencies } }: { readonly health: Health }) => (
  <details class="help" open={dependencies.some(({ status }) => status !== "ACTIVE")}>
    <summary>Technical report</summary>
    <p class="quiet">
      {name} {version}
    </p>
    <Table label="Parts of the service" rows={dependencies} keyOf={({ service }) => service} columns={COLUMNS} />
  </details>
);

const WORDS = { ACTIVE: "Works", WARNING: "Warning", ERROR: "Fails" } as const;

const COLUMNS = [
  { label: "Part", cell: ({ service }: Dependency) => <span class="name">{nameOfPart(service)}</span> },
  { label: "State", cell: (part: Dependency) => <State part={part} words={WORDS} /> },
  { label: "Report", cell: ({ message }: Dependency) => message },
] as const;
