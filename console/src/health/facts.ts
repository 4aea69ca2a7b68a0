import type { AdminDependency as Dependency } from "@item-vault/client";
import { ENDING } from "@item-vault/model/ending";
import type { ViewName } from "../routes.ts";
import { plural } from "../ui/plural.ts";
import { formatFromNow } from "../ui/relative-time.ts";
import { formatSize } from "../ui/size.ts";
import { DAY_MS } from "../ui/time.ts";

/** What the parts of a report of /health mean to a person, and where something can be done about them. */

export type Status = Dependency["status"];

interface FactRow {
  readonly title: string;
  /** The part of the report; absent: all parts that no other row names, also those of a newer release. */
  readonly part?: string;
  /** In: the part with the worst status. Out: sentences. */
  readonly textOf: (part: Dependency, now: number) => string;
  /** The view in which something can be done. */
  readonly action?: { readonly label: string; readonly view: ViewName };
}

const FACTS: readonly FactRow[] = [
  { title: "Backups", part: "backups", textOf: textOfBackups, action: { label: "Open the backups", view: "backups" } },
  { title: "Room", part: "capacity", textOf: textOfRoom, action: { label: "Open the vaults", view: "vaults" } },
  {
    title: "Root keys",
    part: "keys",
    textOf: ({ status, count }) =>
      ({
        ACTIVE: "All vaults and tokens are under the active key.",
        WARNING: `${counted(count, "retired key is", "retired keys are")} still in use. Put everything under the active key.`,
        ERROR: "A key is missing or wrong. What is under it cannot be opened.",
      })[status],
    action: { label: "Open the keys", view: "keys" },
  },
  {
    title: "Tokens",
    part: "tokens",
    textOf: ({ status, count }) =>
      ({
        ACTIVE: "No token that was made for long ends soon.",
        WARNING: `${counted(count, "token ends", "tokens end")} within ${ENDING.within / DAY_MS} days. What uses them stops then, unless it gets new ones.`,
        ERROR: "It is not known which tokens end soon.",
      })[status],
    action: { label: "Open the tokens", view: "tokens" },
  },
  {
    title: "Stored data",
    part: "data",
    textOf: ({ status }) =>
      ({
        ACTIVE: "All that was read in the last day is whole.",
        WARNING: "Some of what was read in the last day is damaged. “Verify” names it, and a backup restores it.",
        ERROR: "It is not known whether something is damaged.",
      })[status],
    action: { label: "Open the backups", view: "backups" },
  },
  {
    title: "Jobs",
    part: "jobs",
    textOf: ({ status }) =>
      ({
        ACTIVE: "No backup, check or other long job has failed.",
        WARNING: "A backup, a check or another long job has failed or left something out.",
        ERROR: "It is not known whether a job has failed.",
      })[status],
    action: { label: "Open the jobs", view: "backups" },
  },
  {
    title: "Service",
    textOf: ({ service, status }) =>
      ({
        ACTIVE: "Everything that the service is made of answers.",
        WARNING: `${nameOfPart(service)}: the technical report has a warning.`,
        ERROR: `${nameOfPart(service)}: it fails. The technical report has the reason.`,
      })[status],
  },
];

/** Only the admin gets the number. */
const counted = (count: number | undefined, one: string, many: string): string =>
  count === undefined ? `Some ${many}` : plural(count, one, many);

function textOfBackups({ status, message, at }: Dependency, now: number): string {
  // The report that everybody gets has no time, and says the same in its words.
  if (at === undefined) return `${message}.`;
  const last = `The last backup was ${formatFromNow(at, now)}`;
  return status === "ACTIVE"
    ? `${last}.`
    : `${last}, and it is late, incomplete or damaged. The technical report has the reason.`;
}

function textOfRoom({ status, message, used, limit }: Dependency): string {
  if (used === undefined || limit === undefined) return `${message}.`;
  const left = `${formatSize(Math.max(limit - used, 0))} of ${formatSize(limit)} left`;
  return {
    ACTIVE: `There is ${left} in the database.`,
    WARNING: `There is only ${left} in the database.`,
    ERROR: `There is only ${left} in the database, and nothing that takes more is accepted. Delete what nobody needs.`,
  }[status];
}

/** The names of the parts in the technical report; a part of a newer release has the name of the API. */
const PARTS: Readonly<Record<string, string>> = {
  d1: "Database (D1)",
  schema: "Schema",
  capacity: "Capacity",
  r2: "Bucket (R2)",
  keys: "Root keys",
  tokens: "Tokens",
  coordinator: "Coordinator",
  queue: "Queue",
  "rate limits": "Rate limits",
  jobs: "Jobs",
  backups: "Backups",
  data: "Stored data",
  settings: "Settings",
};

export const nameOfPart = (service: string): string => PARTS[service] ?? service;

/** Whether a part works and has nothing yet, which is not said to be good. */
export const isEmpty = ({ status, message }: Dependency): boolean => status === "ACTIVE" && message.startsWith("There is no ");

/** From the best to the worst. */
const STATUSES: readonly Status[] = ["ACTIVE", "WARNING", "ERROR"];

export interface Fact {
  readonly title: string;
  readonly text: string;
  readonly action: FactRow["action"];
  /** The part that it is about, whose status it has. */
  readonly part: Dependency;
}

/** What a report means, in the order of the table. A row whose part the report does not have is left out. In: the parts; Unix milliseconds. */
export function factsOf(parts: readonly Dependency[], now: number): Fact[] {
  const named = new Set(FACTS.map(({ part }) => part));
  return FACTS.flatMap(({ title, part: name, textOf, action }) => {
    const [part] = parts
      .filter(({ service }) => (name === undefined ? !named.has(service) : service === name))
      .toSorted((one, other) => STATUSES.indexOf(other.status) - STATUSES.indexOf(one.status));
    return part ? [{ title, text: textOf(part, now), action, part }] : [];
  });
}

/** All facts in one sentence. */
export function verdictOf(facts: readonly Fact[]): string {
  const wrong = facts.filter(({ part }) => part.status !== "ACTIVE").length;
  if (wrong > 0) return `${plural(wrong, "thing needs", "things need")} attention.`;
  const hasNoBackup = facts.some(({ part }) => part.service === "backups" && isEmpty(part));
  return hasNoBackup ? "Everything works, and nothing is backed up yet." : "Everything is in order.";
}
