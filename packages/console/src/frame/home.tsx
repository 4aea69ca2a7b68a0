import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { countFailingWebhooks, people, tokens } from "../admin/lists.ts";
import { factsOf, isEmpty } from "../health/facts.ts";
import { Tile } from "../items/tile.tsx";
import type { ViewName } from "../routes.ts";
import { health, reminderOf } from "../state/health.ts";
import { entries, may, transferTargets, vaults } from "../state/items.ts";
import { isOwn } from "../state/names.ts";
import { openedKeys } from "../state/opened.ts";
import { addressOf } from "../state/route.ts";
import { byChanged, type Entry } from "../state/search.ts";
import { canOpen, session } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { FromNow } from "../ui/day.tsx";
import { recall, remember } from "../ui/look.ts";
import { keepFocus } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { titleOf } from "../ui/texts.ts";
import { Who } from "../ui/who.tsx";

/** Home: the probable next steps of a person, in the place of an Item. */

const SHOWN_MAX = 5;

export function Home() {
  const { admin } = session.value!;
  useLayoutEffect(() => void (admin && countFailingWebhooks()), [admin]);
  const listed = entries.value.filter(({ item }) => item.state === undefined && may(item.vault.id, "r"));
  const used = listed.filter(({ key }) => openedKeys.value.includes(key));
  used.sort((one, other) => openedKeys.value.indexOf(one.key) - openedKeys.value.indexOf(other.key));
  const ownIds = new Set([...new Set(listed.map(({ item }) => item.lastEditedBy))].filter(isOwn));
  const own = lastChanged(listed, (id) => ownIds.has(id)).filter((entry) => !used.includes(entry));
  const others = lastChanged(listed, (id) => !ownIds.has(id));
  return (
    <>
      <Checklist />
      <Reminders />
      <Items title="Recently used" shown={[...used, ...own].slice(0, SHOWN_MAX)} />
      <Items title="Changed by others" shown={others} />
    </>
  );
}

/** Returns the last changed entries whose editor passes the test. It does not sort all, which may be 50,000. */
function lastChanged(listed: readonly Entry[], test: (editor: string) => boolean): readonly Entry[] {
  let last: readonly Entry[] = [];
  for (const entry of listed)
    if ((last.length < SHOWN_MAX || byChanged(entry, last.at(-1)!) < 0) && test(entry.item.lastEditedBy))
      last = [...last, entry].toSorted(byChanged).slice(0, SHOWN_MAX);
  return last;
}

const Items = ({ title, shown }: { readonly title: string; readonly shown: readonly Entry[] }) =>
  shown.length > 0 && (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {shown.map(({ key, item }) => (
          <li key={key}>
            <a href={addressOf({ view: "items", vault: item.vault.id, item: item.id })}>
              <Tile title={item.title} category={item.category} />
              <span class="name">{titleOf(item)}</span>
            </a>
            <span class="quiet">
              <FromNow time={item.updatedAt} /> by <Who id={item.lastEditedBy} vault={item.vault.id} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );

const CHECK = "Find reused, weak and due ones.";

/** What is due or weak. The values of fields are not in the page, so a view checks the passwords. */
function Reminders() {
  const facts = factsOf(health.value?.dependencies ?? [], Date.now()).filter(({ part }) => part.status !== "ACTIVE");
  const [due, failing] = [reminderOf("passwords"), reminderOf("webhooks")];
  const rows: readonly (readonly [label: string, text: string, view?: ViewName])[] = [
    ...facts.map(({ title, text, view }) => [title, text, view] as const),
    ...(failing ? [["Webhooks", `${plural(failing.count, "webhook fails", "webhooks fail")}.`, "webhooks"] as const] : []),
    ...(entries.value.some(({ item }) => may(item.vault.id, "r"))
      ? [["Check passwords", due ? `${plural(due.count, "item is", "items are")} due.` : CHECK, "passwords"] as const]
      : []),
  ];
  if (rows.length === 0) return null;
  return (
    <section aria-label="Due or weak">
      <h2>Due or weak</h2>
      <ul>
        {rows.map(([label, text, view]) => (
          <li key={label}>
            {view && canOpen(view, session.value!) ? <a href={addressOf({ view })}>{label}</a> : label}
            <span class="quiet">{text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

type Step = Readonly<{ label: string; view: ViewName; isDone: () => boolean }>;

/** The first steps. A step whose view the session may not open is not offered. */
const STEPS: readonly Step[] = [
  { label: "Bring your passwords", view: "import", isDone: () => entries.value.length > 0 || transferTargets().length === 0 },
  { label: "Add a vault", view: "vaults", isDone: () => vaults.value.length > 1 },
  {
    label: "Give CI a token",
    view: "tokens",
    isDone: () => tokens.rows.value?.some(({ id }) => id !== session.value?.token?.id) ?? true,
  },
  { label: "Invite somebody", view: "people", isDone: () => people.rows.value?.length !== 0 },
  {
    label: "Back up",
    view: "backups",
    isDone: () => !health.value?.dependencies.some((part) => part.service === "backups" && isEmpty(part)),
  },
];

const CHECKLIST = "checklist";

/** The steps of a new service that are not done yet, as far as that is known, until somebody dismisses them. */
function Checklist() {
  const dismissed = useSignal(recall(CHECKLIST) !== null);
  const loads = session.value!.admin && !dismissed.value;
  useLayoutEffect(() => {
    if (loads) for (const list of [tokens, people]) if (!list.rows.peek()) void list.load();
  }, [loads]);
  const left = STEPS.filter(({ view, isDone }) => canOpen(view, session.value!) && !isDone());
  if (dismissed.value || left.length === 0) return null;
  const dismiss = () => {
    remember(CHECKLIST, "dismissed");
    dismissed.value = true;
    keepFocus();
  };
  return (
    <section aria-label="First steps">
      <h2>First steps</h2>
      <ul>
        {left.map(({ label, view }) => (
          <li key={view}>
            <a href={addressOf({ view })}>{label}</a>
          </li>
        ))}
      </ul>
      <Button text="Dismiss" class="plain" onClick={dismiss} />
    </section>
  );
}
