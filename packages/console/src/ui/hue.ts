/** Number of colours that tell Items and vaults apart: `hue-0` and so on in style/tokens.css. */
const HUES = 8;

/** The colour of a text: the same each time (FNV-1a, 32 bits). */
export function hueOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % HUES;
}
