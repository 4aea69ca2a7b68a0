import type { ComponentChildren } from "preact";
import { formatTime } from "../ui/time.ts";
import type { Loaded } from "./load.ts";

interface Props {
  readonly loaded: Loaded;
  readonly isLoading: boolean;
  /** Loads older entries. */
  readonly onMore: () => void;
  /** A summary of the loaded entries. */
  readonly children?: ComponentChildren;
}

/** Shows below entries which may be missing, and the button that loads older ones. */
export const MoreEntries = ({ loaded: { next, gap }, isLoading, onMore, children }: Props) => (
  <>
    {gap !== undefined && (
      <p class="quiet">Up to {formatTime(gap)}, reads, denials and sign-ins may be missing: a log had too many entries.</p>
    )}
    <p class="more">
      {!isLoading && children}
      {next !== undefined && (
        <button type="button" disabled={isLoading} onClick={onMore}>
          Load older entries
        </button>
      )}
      {isLoading && <span class="quiet">Loading…</span>}
    </p>
  </>
);
