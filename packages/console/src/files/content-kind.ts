/** The type of a content, by its bytes. The name of a File proves nothing. */

/** The types of images that browsers decode. SVG is not one of them: it is a document, which is shown as its text. */
type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif";

export type ContentKind = { readonly image: ImageType } | { readonly text: string } | undefined;

/** The first bytes of each type, in Latin-1. */
const SIGNATURES: readonly (readonly [ImageType, RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\cZ\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  // ISO 14496-12: the major brand, or one of the compatible brands.
  ["image/avif", /^[^]{4}ftyp(?:[^]{4}){0,8}?(?:avif|avis)/],
];

/** The longest beginning that a signature looks at. */
const SIGNATURE = 64;

/** Returns the kind of a content from its first bytes; `whole` is true if these are all. Returns undefined if there is no preview. */
export function kindOf(bytes: Uint8Array, whole: boolean): ContentKind {
  const start = String.fromCharCode(...bytes.subarray(0, SIGNATURE));
  const image = SIGNATURES.find(([, pattern]) => pattern.test(start))?.[0];
  if (image) return { image };
  const text = decode(bytes, whole);
  return text === undefined || CONTROL.test(text) ? undefined : { text };
}

/** Control characters that texts do not have: all but tab, line feed, form feed and carriage return. */
const CONTROL = /[^\P{Cc}\t\n\f\r]/u;

function decode(bytes: Uint8Array, whole: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes, { stream: !whole });
  } catch {
    return undefined;
  }
}
