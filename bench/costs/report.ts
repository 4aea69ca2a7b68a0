/** The tables of costs, as Markdown. */
import { SECOND } from "../../src/model/time.ts";
import { formatTable } from "../tables.ts";
import { dollarsPerMillion, dollarsPerMonth, mostPerDay, sumOf, type Usage } from "./arithmetic.ts";
import { type Price, PRICE_PAGES, PRICES, PRICES_READ_ON, type Unit } from "./prices.ts";
import { DAILY, DAYS, type OperationName, OPERATIONS, STORED, TEAMS } from "./teams.ts";
import { OBJECT_GB } from "./usage.ts";

type Usages = { readonly [name in OperationName]: Usage };

const dollars = (value: number): string => `$${value.toFixed(2)}`;
const amount = (value: number): string =>
  Number.isInteger(value) || value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2);

/** The columns of the first table. */
const SHOWN = ["rowsRead", "rowsWritten", "objectRequests", "r2Writes", "r2Reads", "queue"] as const satisfies readonly Unit[];

const operationsTable = (usages: Usages): string =>
  formatTable(
    [
      "operation",
      "dollars per million",
      ...SHOWN.map((unit) => PRICES[unit].name),
      "Durable Object duration, ms",
      "CPU, ms (estimate)",
      "a day on Workers Free",
    ],
    OPERATIONS.map((name) => {
      const usage = usages[name];
      const most = mostPerDay(usage);
      return [
        name,
        dollars(dollarsPerMillion(usage)),
        ...SHOWN.map((unit) => amount(usage[unit] ?? 0)),
        amount(Math.round(((usage.objectDuration ?? 0) / OBJECT_GB) * SECOND)),
        amount(usage.cpu ?? 0),
        most ? `${most.times.toLocaleString("en")} (${most.unit})` : "",
      ];
    }),
  );

/** The usage of one member in a day. */
const dayOf = (usages: Usages): Usage => sumOf(OPERATIONS.map((name) => [DAILY[name], usages[name]]));

const teamsTable = (usages: Usages): string =>
  formatTable(
    ["members", "operations a month", "dollars a month", "of which beyond the plan's $5"],
    TEAMS.map((members) => {
      const times = members * DAYS;
      const month = dollarsPerMonth(sumOf([[times, dayOf(usages)]]), { d1: members * STORED.d1, r2: members * STORED.r2 });
      const operations = Object.values(DAILY).reduce((sum, daily) => sum + daily, 0) * times;
      return [String(members), amount(operations), dollars(month), dollars(month - 5)];
    }),
  );

/** What one member takes of a day of Workers Free, and how many members fit. */
const freeTable = (usages: Usages): string => {
  const day = dayOf(usages);
  const limited = (Object.entries(PRICES) as [Unit, Price][]).flatMap(([unit, { name, free }]) =>
    free === undefined ? [] : [[name, amount(day[unit] ?? 0), amount(free), amount(Math.floor(free / (day[unit] ?? 0)))]],
  );
  return formatTable(["limit of a day", "one member", "Workers Free", "members that fit"], limited);
};

const assumptions = OPERATIONS.map((name) => `${name}: ${amount(DAILY[name])}`).join("; ");

/** Presents the usage of one of each operation. */
export const formatCosts = (
  usages: Usages,
): string => `Prices of ${PRICES_READ_ON}, without taxes, from ${PRICE_PAGES.map((page) => `<${page}>`).join(", ")}.
\`npm run bench -- costs\` counts the calls and rows of each operation locally and writes these tables. The duration of
Durable Objects is measured with D1 calls that take 30 ms more than locally. CPU is not measured: the table has estimates.

${operationsTable(usages)}

The dollars are for operations beyond the plan. A read or denial includes its log entry, as if it were alone in its message and in the consumer's batch: many at
once share both and cost less. References are resolved in one vault; each further vault has a log entry of its own. Rows written include the later deletion of
log entries and versions. The rate limits cost nothing. Nightly backups are not included.

**A month of a team on Workers Paid**, whose plan costs $5. A member is a person or a service. In a day one does, ${assumptions} (one
member of ten listens all day). Each keeps ${STORED.d1} GB in D1 and ${STORED.r2} GB in R2.

${teamsTable(usages)}

**Workers Free** ends at these amounts in a day, and answers errors until midnight UTC. It also allows 10 ms of CPU for a request, 50 D1
queries in an invocation, 500 MB in a database and 7 days of Time Travel.

${freeTable(usages)}
`;
