import { formatSize } from "../ui/size.ts";

interface Props {
  /** For screen readers. */
  readonly label: string;
  /** Bytes. */
  readonly done: number;
  readonly size: number;
  readonly onCancel: () => void;
}

/** The progress of an upload or a download, with a button to cancel it. */
export const Transfer = ({ label, done, size, onCancel }: Props) => (
  <div class="transfer">
    <progress aria-label={label} max={Math.max(1, size)} value={done} />
    <span class="quiet">
      {formatSize(done)} of {formatSize(size)}
    </span>
    <button type="button" aria-label={`Cancel ${label}`} onClick={onCancel}>
      Cancel
    </button>
  </div>
);
