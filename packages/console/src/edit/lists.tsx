import { useSignal } from "@preact/signals";
import { LIMITS } from "@item-vault/model/limits";
import { entries } from "../state/items.ts";
import type { Draft, DraftUrl } from "../items/draft.ts";
import { focusLater, SignButton, TextInput } from "./inputs.tsx";
import { compareNames } from "../state/search.ts";

/** The URLs and the tags of the form. */

interface Props {
  readonly draft: Draft;
  readonly change: (draft: Draft) => void;
}

export function UrlEditors({ draft, change }: Props) {
  const { urls } = draft;
  const set = (index: number, changes: Partial<DraftUrl>) =>
    change({ ...draft, urls: urls.with(index, { ...urls[index]!, ...changes }) });
  const add = () => {
    change({ ...draft, urls: [...urls, { href: "", label: "", primary: urls.length === 0 }] });
    focusLater(`url-${urls.length}`);
  };
  const remove = (index: number) => {
    change({ ...draft, urls: urls.toSpliced(index, 1) });
    focusLater("add-url");
  };
  return (
    <fieldset class="urls">
      <legend>URLs</legend>
      {urls.map(({ href, label }, index) => (
        // A URL has no id of its own.
        <div key={index} class="line">
          <TextInput
            label={`URL ${index + 1}`}
            value={href}
            limit={LIMITS.string}
            onChange={(value) => set(index, { href: value })}
            input={{ id: `url-${index}`, inputMode: "url", placeholder: "https://", autocomplete: "off" }}
          />
          <TextInput
            label={`Name of URL ${index + 1}`}
            value={label}
            limit={LIMITS.string}
            onChange={(value) => set(index, { label: value })}
            input={{ autocomplete: "off" }}
          />
          <SignButton label={`Remove URL ${index + 1}`} onClick={() => remove(index)}>
            ×
          </SignButton>
        </div>
      ))}
      <button type="button" id="add-url" disabled={urls.length >= LIMITS.list} onClick={add}>
        Add URL
      </button>
    </fieldset>
  );
}

export function TagEditor({ draft, change }: Props) {
  const typed = useSignal("");
  const { tags } = draft;
  // Also when the focus leaves the field, so that a tag that was typed is saved.
  const add = () => {
    const added = typed.value
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== "" && !tags.includes(tag));
    typed.value = "";
    if (added.length > 0) change({ ...draft, tags: [...new Set([...tags, ...added])] });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || typed.value.trim() === "") return;
    event.preventDefault();
    add();
  };
  const remove = (tag: string) => {
    change({ ...draft, tags: tags.filter((each) => each !== tag) });
    focusLater("add-tag");
  };
  return (
    <fieldset class="tag-editor">
      <legend>Tags</legend>
      {tags.length > 0 && (
        <ul class="tags">
          {tags.map((tag, index) => (
            <li key={index}>
              {tag}
              <SignButton label={`Remove tag ${tag}`} onClick={() => remove(tag)}>
                ×
              </SignButton>
            </li>
          ))}
        </ul>
      )}
      <TextInput
        label="Add tag"
        value={typed.value}
        limit={LIMITS.string}
        onChange={(value) => (typed.value = value)}
        input={{ id: "add-tag", list: "known-tags", autocomplete: "off", onBlur: add, onKeyDown }}
      />
      <datalist id="known-tags">
        {knownTags(tags).map((tag) => (
          <option key={tag} value={tag}>
            {tag}
          </option>
        ))}
      </datalist>
    </fieldset>
  );
}

/** The tags of other Items, which the field suggests. */
const knownTags = (used: readonly string[]): string[] =>
  [...new Set(entries.value.flatMap(({ item }) => item.tags))].filter((tag) => !used.includes(tag)).toSorted(compareNames);
