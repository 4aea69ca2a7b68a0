import { hueOf } from "../ui/hue.ts";
import { knownCategory } from "./categories.ts";
import { CATEGORY_ICONS } from "./category-icons.ts";

/** The face of an Item: the first letter of its title, on a colour that the title always has. */

interface Props {
  readonly title: string;
  readonly category: string;
  /** A click on it selects the Item, and does not follow the link around it. */
  readonly "data-selects"?: true;
}

export function Tile({ title, category, ...rest }: Props) {
  const [first = ""] = title.trim();
  return (
    <span class={`tile hue-${hueOf(title)}`} aria-hidden="true" {...rest}>
      {/[\p{L}\p{N}]/u.test(first) ? first.toUpperCase() : <CategoryIcon category={category} />}
    </span>
  );
}

export const CategoryIcon = ({ category }: Pick<Props, "category">) => (
  <svg class="icon line" viewBox="0 0 24 24" aria-hidden="true">
    <path d={CATEGORY_ICONS[knownCategory(category)]} />
  </svg>
);
