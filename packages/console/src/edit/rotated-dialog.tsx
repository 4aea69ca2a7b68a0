import type { Rotated } from "../state/rotated.ts";
import { session } from "../state/session.ts";
import { showWritten } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { copy } from "../ui/clipboard.ts";
import { ConcealedValue } from "../ui/reveal.tsx";
import { ShownOnce } from "../ui/shown-once.tsx";
import { capitalized, named } from "../ui/texts.ts";

/** The dialog after a value was rotated. It shows both, because a site often asks for the old value where the new one is entered. */
export function RotatedDialog({ rotated, onClose }: { readonly rotated: Rotated; readonly onClose: () => void }) {
  const { name, before, after, version, isWritten, undo } = rotated;
  const kept = session.value!.settings.versionsKept > 0;
  const done = () => {
    onClose();
    if (isWritten) showWritten(`${capitalized(name)} rotated`, rotated, undo);
  };
  return (
    <ShownOnce
      title={`${capitalized(name)} ${isWritten ? "" : "may be "}rotated`}
      secret={kept ? undefined : "old value"}
      onClose={done}
    >
      {(copyOld) => (
        <>
          <p>
            {!isWritten && "The answer was lost: the item has the new value or still the old one. Reload it to see which.  "}
            Copy what you need.{" "}
            {kept ? `The old ${named(name)} stays available in version ${version}.` : "This service keeps no earlier versions."}
          </p>
          <dl class="both">
            <Value age="new" field={name} value={after} onCopy={(what, value) => void copy(what, value)} />
            <Value age="old" field={name} value={before} onCopy={copyOld} />
          </dl>
        </>
      )}
    </ShownOnce>
  );
}

type ValueProps = Readonly<{ age: "new" | "old"; field: string; value: string; onCopy: (what: string, value: string) => void }>;

function Value({ age, field, value, onCopy }: ValueProps) {
  const name = `${age} ${field}`;
  return (
    <div>
      <dt>{age === "new" ? "New" : "Old"}</dt>
      <dd>
        <ConcealedValue name={name} value={value} />
        <Button icon="copy" text="Copy" label={`Copy ${name}`} onClick={() => onCopy(name, value)} />
      </dd>
    </div>
  );
}
