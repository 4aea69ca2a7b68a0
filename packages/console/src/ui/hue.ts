/** Number of colours that tell Items and vaults apart. */
const HUES = 8;

/** Returns the style with the colour of a text: the same each time (FNV-1a, 32 bits). style/tokens.css makes a colour of the angle. */
export function hueStyle(text: string): { readonly "--angle": string } {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return { "--angle": `${25 + ((hash >>> 0) % HUES) * (360 / HUES)}` };
}
