import { copy } from "../ui/clipboard.ts";
import { CopyButton } from "./field-buttons.tsx";
import { isWebUrl } from "./field-types.ts";
import { ShownValue } from "./fields.tsx";
import type { Opened } from "../state/opened.ts";

/** The URLs of an Item. Empty ones are not shown. */

export function Urls({ opened: { item } }: { readonly opened: Opened }) {
  const shown = item.urls.filter(({ href }) => href.trim() !== "");
  if (shown.length === 0) return null;
  return (
    <section class="fields" aria-label="URLs">
      <dl>
        {shown.map(({ href, label }, index) => (
          <div key={index} class="field-row">
            <dt>{label || "URL"}</dt>
            <dd>
              <ShownValue value={href} href={isWebUrl(href) ? href : undefined} />
              <CopyButton name={label || "URL"} onCopy={() => void copy(label || "URL", href, { secret: false })} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
