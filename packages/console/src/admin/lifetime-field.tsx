import { LIMITS } from "@item-vault/model/limits";
import { useSignal } from "@preact/signals";
import { Select } from "../ui/controls.tsx";
import { textOf } from "../ui/form.tsx";

/** The lifetime of a token: a usual lifetime, or a custom one. */

const MINUTE = 60; // seconds
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const OTHER = "other";

/** The offered lifetimes: seconds and label. */
const LIFETIMES = [
  [HOUR, "1 hour"],
  [12 * HOUR, "12 hours"],
  [7 * DAY, "7 days"],
  [30 * DAY, "30 days"],
  [LIMITS.tokenLifetimeDefault, "90 days"],
  [LIMITS.tokenLifetime, "1 year"],
  [OTHER, "Another time…"],
] as const;

/** The lifetimes offered for the tokens of a workload's rule. */
export const RULE_LIFETIMES = [
  [5 * MINUTE, "5 minutes"],
  [LIMITS.ruleLifetimeDefault, "15 minutes"],
  [30 * MINUTE, "30 minutes"],
  [LIMITS.ruleLifetime, "1 hour"],
] as const;

/** The units of a lifetime that is typed, with their seconds. */
const UNITS = { hours: HOUR, days: DAY } as const;
type Unit = keyof typeof UNITS;
const UNIT_OPTIONS = (Object.keys(UNITS) as Unit[]).map((name) => [name, name] as const);

export function LifetimeField() {
  const chosen = useSignal(String(LIMITS.tokenLifetimeDefault));
  const unit = useSignal<Unit>("days");
  return (
    <div class="lifetime">
      <Select
        label="Expires after"
        name="lifetime"
        value={chosen.value}
        options={LIFETIMES.map(([value, label]) => [String(value), label])}
        onChange={(next) => (chosen.value = next)}
      />
      {chosen.value === OTHER && (
        <>
          <label>
            How many
            <input name="count" type="number" required min={1} max={LIMITS.tokenLifetime / UNITS[unit.value]} step={1} />
          </label>
          <Select label="Unit" name="unit" value={unit.value} options={UNIT_OPTIONS} onChange={(next) => (unit.value = next)} />
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
