import type { Found } from "../types.ts";

/** The script of the reference pages: the search, the buttons that copy, and trials against a service on this machine. */

/** Makes an element with attributes and children. A text is inserted as text. */
function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const RESULTS_MAX = 30;

const search = element("input", {
  type: "text",
  role: "combobox",
  "aria-label": "Search tasks, operations, schemas, errors and rules",
  "aria-controls": "results",
  "aria-expanded": "true",
  "aria-autocomplete": "list",
  autocomplete: "off",
  spellcheck: "false",
});
const results = element("ul", { id: "results", role: "listbox", "aria-label": "Results" });
const count = element("p", { role: "status" });
const dialog = element("dialog", { class: "search", "aria-label": "Search" }, search, count, results);

let index: Promise<readonly Found[]> | undefined;
const loadIndex = (): Promise<readonly Found[]> =>
  (index ??= fetch("/docs/search.json").then(
    (response) => response.json() as Promise<readonly Found[]>,
    (error: unknown) => {
      index = undefined;
      throw error;
    },
  ));

/** Returns the entries with all words of a text: those first whose title has the text, then its words, then the shown line. */
function matchesOf(entries: readonly Found[], text: string): readonly Found[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const whole = words.join(" ");
  const hasWords = (place: string) => words.every((word) => place.includes(word));
  const rankOf = ([kind, title, detail, , more = ""]: Found): number => {
    const name = (kind === "task" ? `${title} ${more}` : title).toLowerCase();
    const line = `${kind} ${name} ${detail.toLowerCase()}`;
    const ranks = [
      name.startsWith(whole),
      name.includes(whole),
      hasWords(name),
      hasWords(line),
      hasWords(`${line} ${more.toLowerCase()}`),
    ];
    return ranks.indexOf(true);
  };
  return entries
    .map((entry) => [rankOf(entry), entry] as const)
    .filter(([rank]) => rank !== -1)
    .toSorted(([a], [b]) => a - b)
    .map(([, entry]) => entry);
}

async function showResults(): Promise<void> {
  const text = search.value;
  const entries = await loadIndex().catch(() => undefined);
  if (text !== search.value) return;
  const found = entries ? matchesOf(entries, text) : [];
  count.textContent = entries ? `${found.length} found` : "The search is out of reach. Type again to try again.";
  results.replaceChildren(
    ...found
      .slice(0, RESULTS_MAX)
      .map(([kind, title, detail, href], at) =>
        element(
          "li",
          { role: "option", id: `result-${at}`, "aria-selected": "false" },
          element(
            "a",
            { href, tabindex: "-1" },
            element("small", {}, kind),
            " ",
            element("b", {}, title),
            " ",
            element("span", {}, detail),
          ),
        ),
      ),
  );
  choose(0);
}

let chosen = 0;
function choose(at: number): void {
  const options = [...results.children];
  chosen = Math.max(0, Math.min(at, options.length - 1));
  for (const [position, option] of options.entries()) option.setAttribute("aria-selected", String(position === chosen));
  options[chosen]?.scrollIntoView({ block: "nearest" });
  search.setAttribute("aria-activedescendant", options.length === 0 ? "" : `result-${chosen}`);
}

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

search.addEventListener("input", () => void showResults());
search.addEventListener("keydown", (event) => {
  const move = MOVES[event.key];
  if (move === undefined && event.key !== "Enter") return;
  event.preventDefault();
  if (move === undefined) results.children[chosen]?.querySelector("a")?.click();
  else choose(chosen + move);
});
// A link within the page does not load it again.
results.addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});

function openSearch(): void {
  if (dialog.open) return;
  dialog.showModal();
  search.select();
  void showResults();
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  openSearch();
});

const opener = element("button", { type: "button", "aria-keyshortcuts": "Control+K" }, "Search ", element("kbd", {}, "Ctrl K"));
opener.addEventListener("click", openSearch);
document.querySelector("header")!.append(opener);
document.body.append(dialog);

for (const block of document.querySelectorAll("pre")) {
  const button = element("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(block.textContent).then(
      () => (button.textContent = "Copied"),
      () => (button.textContent = "Not copied: select the text"),
    );
  });
  block.before(button);
}

/** The token of the trials of this page. It is in no storage, and leaves with the page. */
let token = "";

const isThisMachine = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

/** Adds a form to an operation that sends a GET, and shows its answer. */
function addTrial(article: HTMLElement): void {
  const path = article.dataset["path"]!;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const inputs = new Map(
    [...names, ...article.dataset["query"]!.split(" ").filter(Boolean)].map((name) => [
      name,
      element("input", { name, autocomplete: "off", spellcheck: "false", ...(names.includes(name) && { required: "" }) }),
    ]),
  );
  const secret = element("input", { type: "password", autocomplete: "off" });
  secret.addEventListener("input", () => (token = secret.value));
  const shown = element("pre", { tabindex: "0", "aria-label": "Answer", hidden: "" });
  const status = element("p", { role: "status" });
  const form = element(
    "form",
    {},
    ...[...inputs].map(([name, input]) => element("label", {}, name, input)),
    ...("token" in article.dataset ? [element("label", {}, "Bearer token", secret)] : []),
    element("button", { type: "submit" }, "Send GET"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const url = new URL(
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inputs.get(name)!.value)),
      location.origin,
    );
    for (const [name, { value }] of inputs) if (!names.includes(name) && value !== "") url.searchParams.set(name, value);
    void sendTrial(url, status, shown);
  });
  const details = element("details", {}, element("summary", {}, "Try it"), form, status, shown);
  details.addEventListener("toggle", () => (secret.value = token));
  // Below the samples.
  article.querySelector("h3, details:not(.sample)")!.before(details);
}

/** Characters of an answer that the page shows. */
const SHOWN_CHARACTERS_MAX = 100_000;

async function sendTrial(url: URL, status: HTMLElement, shown: HTMLElement): Promise<void> {
  status.textContent = "Sent";
  shown.hidden = true;
  try {
    const headers = token === "" ? undefined : { Authorization: `Bearer ${token}` };
    const response = await fetch(url, { ...(headers && { headers }), credentials: "omit", signal: AbortSignal.timeout(30_000) });
    const text = await response.text();
    status.textContent = `${response.status} ${response.headers.get("Item-Vault-Error") ?? ""}`;
    const isJson = response.headers.get("Content-Type")?.includes("json");
    const body = isJson && text !== "" ? JSON.stringify(JSON.parse(text), undefined, 2) : text;
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}\n`);
    shown.textContent = `${lines.join("")}\n${body}`.slice(0, SHOWN_CHARACTERS_MAX);
    shown.hidden = false;
  } catch {
    status.textContent = "No answer, or one that the page cannot read";
  }
}

// On another host a token would go to a service that many people use, from a page that anybody may have sent.
if (isThisMachine) for (const article of document.querySelectorAll<HTMLElement>("article[data-path]")) addTrial(article);
