import type { Rotated } from "../state/rotated.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { copy } from "../ui/clipboard.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { HiddenValue, RevealButton, useReveal } from "../ui/reveal.tsx";
import { isolate } from "../ui/texts.ts";

/** The dialog after a value was rotated. It has both, because the old one is often asked for where the new one is to be entered. */

interface Props {
  readonly rotated: Rotated;
  readonly onClose: () => void;
}

export function RotatedDialog({ rotated: { name, before, after, version, undo }, onClose }: Props) {
  const kept = session.value!.settings.versionsKept > 0;
  const done = () => {
    onClose();
    showToast(`${isolate(name)} is rotated.`, "done", undo);
  };
  return (
    <Dialog title={`${isolate(name)} is rotated`} onClose={done}>
      <p>
        Both values are here until you close this.{" "}
        {kept
          ? `Afterwards the old one is in version ${version} of this Item.`
          : "This service keeps no earlier versions: copy the old one if you need it."}
      </p>
      <dl class="both">
        <Value label="New" name={`new ${name}`} value={after} />
        <Value label="Old" name={`old ${name}`} value={before} />
      </dl>
      <div class="buttons">
        {undo && (
          <button
            type="button"
            onClick={() => {
              onClose();
              undo.run();
            }}
          >
            {undo.label}
          </button>
        )}
        <button type="button" class="primary" onClick={done}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

interface ValueProps {
  readonly label: string;
  /** What screen readers and messages call it. */
  readonly name: string;
  readonly value: string;
}

function Value({ label, name, value }: ValueProps) {
  const { revealed, toggle } = useReveal(value);
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {revealed ? <span class="value secret">{value}</span> : <HiddenValue />}
        <RevealButton name={name} revealed={revealed} toggle={toggle} />
        <button type="button" aria-label={`Copy ${name}`} onClick={() => void copy(name, value)}>
          <Icon name="copy" />
          Copy
        </button>
      </dd>
    </div>
  );
}
