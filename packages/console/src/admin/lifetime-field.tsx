import { LIMITS } from "@item-vault/model/limits";
import { useSignal } from "@preact/signals";
import { textOf } from "../ui/form.tsx";
import { LIFETIMES, mostOf, type Unit, UNITS } from "./lifetimes.ts";

/** The lifetime of a token: a usual lifetime, or a custom one. */

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
            <input name="count" type="number" required min={1} max={mostOf(unit.value)} step={1} />
          </label>
          <label>
            Unit
            <select name="unit" value={unit.value} onChange={(event) => (unit.value = event.currentTarget.value as Unit)}>
              {Object.keys(UNITS).map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
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
