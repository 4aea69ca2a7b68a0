import { iconOfCategory } from "./categories.ts";

/** A click on a tile that selects does not follow the link around it. */
type Props = Readonly<{ title: string; category: string; "data-selects"?: true }>;

/** The face of an Item: of a login the first letter of its title, on a colour that the title always has; otherwise the category's icon. */
export function Tile({ title, category, ...rest }: Props) {
  const [first = ""] = title.trim();
  const hasLetter = category === "LOGIN" && /[\p{L}\p{N}]/u.test(first);
  return (
    <span class="tile" style={hasLetter ? hueStyle(title) : undefined} aria-hidden="true" {...rest}>
      {hasLetter ? first.toUpperCase() : <CategoryIcon category={category} />}
    </span>
  );
}

/** Number of colours that distinguish Items and vaults. */
const HUES = 8;

/** Returns the style with the colour of a text: the same each time (FNV-1a, 32 bits). style/tokens.css makes a colour of the angle. */
export function hueStyle(text: string): { readonly "--angle": string } {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return { "--angle": `${25 + ((hash >>> 0) % HUES) * (360 / HUES)}` };
}

export const CategoryIcon = ({ category }: Pick<Props, "category">) => (
  <svg class="icon line" viewBox="0 0 24 24" aria-hidden="true">
    <path d={iconOfCategory(category)} />
  </svg>
);
