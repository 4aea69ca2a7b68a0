import { Fragment, h, options, type VNode } from "preact";
import { isWithoutInk, presentText, reorders, withIsolates } from "./texts.ts";

/**
 * Isolates users' texts in the page. They do not reorder the text around them, show their hidden characters, and are never an empty place.
 * The rule applies to all created elements, so that no component can forget it.
 */

/** Elements whose text stands alone and that contain no elements. */
const WITHOUT_ELEMENTS: ReadonlySet<unknown> = new Set(["title", "textarea", "script", "style"]);
/** The types of inputs for texts of people. */
const TEXTS: ReadonlySet<unknown> = new Set([undefined, "text", "search"]);
/** Attributes that people read or hear. */
const ATTRIBUTES = ["title", "aria-label", "placeholder"] as const;

/** Replaces an invisible text. */
const UNSEEN = "(invisible characters)";

/** Shows the text of an element with marks. An `option` has no elements in it, and a secret keeps its characters. */
function show(child: unknown, isOption: boolean, isSecret: boolean): unknown {
  if (Array.isArray(child)) return child.map((one) => show(one, isOption, isSecret));
  if (typeof child !== "string") return child;
  if (isWithoutInk(child)) return isOption ? UNSEEN : h("span", { class: "quiet" }, UNSEEN);
  const text = (isSecret ? withIsolates : presentText)(child);
  return reorders(text) && !isOption ? h("bdi", null, text) : text;
}

/** Secrets and contents of Files are shown unchanged. */
const isSecretOf = (type: unknown, props: Record<string, unknown>): boolean =>
  type === "pre" || (typeof props["class"] === "string" && /\bsecret\b/.test(props["class"]));

/** Begins to isolate the texts of all elements. */
export function isolateTexts(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (node: VNode) => {
    const { type } = node;
    const props = node.props as Record<string, unknown>;
    if (type === "option" || type === "textarea" || (type === "input" && TEXTS.has(props["type"]))) props["dir"] ??= "auto";
    if ((typeof type === "string" || type === Fragment) && type !== "bdi" && !WITHOUT_ELEMENTS.has(type) && "children" in props)
      props["children"] = show(props["children"], type === "option", isSecretOf(type, props));
    if (typeof type === "string")
      for (const name of ATTRIBUTES) if (typeof props[name] === "string") props[name] = presentText(props[name]);
    before?.(node);
  };
}
