import type { Schema } from "../types.ts";
import { arrayOf, closed, ref, words } from "./shapes.ts";

/** The public report of `/health`, and the admin's report (contract 13.2, 13.3). */

const dependency = {
  service: { type: "string" },
  status: words("ERROR: requests that need it fail.", ["ACTIVE", "WARNING", "ERROR"]),
  message: { type: "string", description: "What works or what is wrong. It contains no secret." },
} as const satisfies Readonly<Record<string, Schema>>;

const health = (dependencies: Schema): Schema =>
  closed("The state of what the service depends on.", {
    name: { type: "string" },
    version: { type: "string", description: "The release of the service." },
    dependencies: arrayOf(dependencies),
  });
export const healthSchemas: Readonly<Record<string, Schema>> = {
  Health: health(ref("Dependency")),
  AdminHealth: health(ref("AdminDependency")),
  Dependency: closed("The state of a dependency. More may be added.", dependency),
  AdminDependency: closed(
    "The state of a dependency, with its figures.",
    {
      ...dependency,
      used: { type: "integer", description: "Bytes of the database; only of `capacity` (contract 13.3)." },
      limit: { type: "integer", description: "Bytes that the database may hold; only of `capacity`." },
      count: { type: "integer", description: "How many tokens or root keys the warning is about; only of `tokens` and `keys`." },
      at: ref("Time", "When the last backup of everything was finished; only of `backups`, and absent without one."),
    },
    ["used", "limit", "count", "at"],
  ),
};
