import { shortId } from "./filter.ts";
import type { PersonRow, TokenRow, WorkloadRow } from "./lists.ts";

/** The names of tokens, people and workloads in the admin's views. */

export const nameOfToken = (token: TokenRow): string => ("broken" in token ? `Damaged token ${shortId(token.id)}` : token.name);

export const nameOfPerson = (person: PersonRow): string =>
  "broken" in person ? `Damaged person ${shortId(person.id)}` : person.email;

export const nameOfWorkload = (row: WorkloadRow): string =>
  "broken" in row ? `Damaged ${row.kind} ${shortId(row.id)}` : row.name;
