import { copy } from "../ui/clipboard.ts";
import { Icon } from "../ui/icon.tsx";
import { isWebUrl } from "./field-types.ts";
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
              {isWebUrl(href) ? (
                <a href={href} target="_blank" rel="noopener noreferrer">
                  {href}
                </a>
              ) : (
                <span>{href}</span>
              )}
              <button
                type="button"
                class="plain copy"
                aria-label={`Copy ${label || "URL"}`}
                title="Copy"
                onClick={() => void copy(label || "URL", href, { secret: false })}
              >
                <Icon name="copy" />
              </button>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
