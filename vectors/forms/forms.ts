import { CONTENT } from "./contents.ts";
import type { Form } from "./example.ts";
import { BLIND_INDEX, DERIVED_KEY, KEY_LIST, MANIFEST_MAC } from "./keys.ts";
import { ACTIVITY_ARCHIVE } from "./logs.ts";
import { SEALED_TEXT } from "./sealed-texts.ts";
import { CODE, TOKENS } from "./tokens.ts";

/** Each form, by the name of its file. */
export const FORMS: Readonly<Record<string, Form>> = {
  "sealed-text": SEALED_TEXT,
  "derived-key": DERIVED_KEY,
  "key-list": KEY_LIST,
  "blind-index": BLIND_INDEX,
  content: CONTENT,
  token: TOKENS,
  code: CODE,
  "manifest-mac": MANIFEST_MAC,
  "activity-archive": ACTIVITY_ARCHIVE,
};
