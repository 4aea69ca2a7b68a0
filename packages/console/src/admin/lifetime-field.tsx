import { LIMITS } from "@item-vault/model/limits";
import { useSignal } from "@preact/signals";
import { textOf } from "../ui/form.tsx";

/** The lifetime of a token: a usual lifetime, or a custom one. */

const MINUTE = 60; // seconds
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The offered lifetimes: label and seconds. */
const LIFETIMES: readonly (readonly [label: string, seconds: number])[] = [
  ["1 hour", HOUR],
  ["12 hours", 12 * HOUR],
  ["7 days", 7 * DAY],
  ["30 days", 30 * DAY],
  ["90 days", LIMITS.tokenLifetimeDefault],
  ["1 year", LIMITS.tokenLifetime],
];

/** The lifetimes offered for the tokens of a workload's rule. */
export const RULE_LIFETIMES: typeof LIFETIMES = [
  ["5 minutes", 5 * MINUTE],
  ["15 minutes", LIMITS.ruleLifetimeDefault],
  ["30 minutes", 30 * MINUTE],
  ["1 hour", LIMITS.ruleLifetime],
];

/** The units of a lifetime that is typed, with their seconds. */
const UNITS = { hours: HOUR, days: DAY } as const;
type Unit = keyof typeof UNITS;

const OTHER = "other";

export function LifetimeField() {
  const chosen = useSignal(String(LIMITS.tokenLifetimeDefault));
  const unit = useSignal<Unit>("days");
  return (
    <div class="lifetime">
      <label>
        Expires after
        <select name="lifetime" value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {LIFETIMES.map(([label, seconds]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
          <option value={OTHER}>Another time…</option>
        </select>
      </label>
      {chosen.value === OTHER && (
        <>
          <label>
            How many
            <input name="count" type="number" required min={1} max={LIMITS.tokenLifetime / UNITS[unit.value]} step={1} />
          </label>
          <label>
            Unit
            <select name="unit" value={unit.value} onChange={(event) => (unit.value = event.currentTarget.value as Unit)}>
              {Object.keys(UNITS).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        </>
      )}
    </div>
  );
}

/** Returns the lifetime in a form's data, in seconds. */
export function parseLifetime(data: FormData): number {
  const lifetime = textOf(data, "lifetime");
  return lifetime === OTHER ? Number(textOf(data, "count")) * UNITS[textOf(data, "unit") as Unit] : Number(lifetime);
}
