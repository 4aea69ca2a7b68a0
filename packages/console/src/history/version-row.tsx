import type { ListedVersion } from "../api/broken.ts";
import { titleOf } from "../items/categories.ts";
import type { Opened } from "../state/opened.ts";
import { formatTime } from "../ui/time.ts";
import { Who } from "../ui/who.tsx";
import { VersionPanel } from "./version-panel.tsx";

interface Props {
  readonly version: ListedVersion;
  /** What changed in it, in words, where that was asked for. */
  readonly words: string | undefined;
  readonly opened: Opened;
  readonly chosen: boolean;
  readonly onChoose: () => void;
  readonly onDestroyed: () => void;
}

/** One version of the list: its number, when and by whom it was written, its title where that was another one, and what changed. */
export function VersionRow({ version, words, opened, chosen, onChoose, onDestroyed }: Props) {
  const isCurrent = version.version === opened.item.version;
  const summary = (
    <>
      <strong>Version {version.version}</strong>
      {isCurrent && <span class="badge">current</span>}
      <span class="quiet">
        <time dateTime={version.updatedAt}>{formatTime(version.updatedAt)}</time> by <Who id={version.lastEditedBy} />
      </span>
      {version.title !== opened.item.title && <span class="title">{titleOf(version)}</span>}
      {words !== undefined && <span class="words">{words}</span>}
    </>
  );
  if (isCurrent) return <li class="version current">{summary}</li>;
  const panel = `version-${version.version}`;
  return (
    <li>
      <button type="button" class="version" aria-expanded={chosen} aria-controls={chosen ? panel : undefined} onClick={onChoose}>
        {summary}
      </button>
      {chosen && <VersionPanel id={panel} version={version.version} opened={opened} onDestroyed={onDestroyed} />}
    </li>
  );
}
