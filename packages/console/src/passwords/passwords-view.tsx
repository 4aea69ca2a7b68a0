import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ItemSummary } from "@item-vault/client";
import { remind } from "../state/health.ts";
import { entries, listError, listState, loadItems, may, vaults, vaultName } from "../state/items.ts";
import { sessionState } from "../state/session.ts";
import { afterRender } from "../ui/after-render.ts";
import { Failure } from "../ui/failure.tsx";
import { focusTitle, Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { VaultFilter } from "../ui/vault-filter.tsx";
import { checkItems, type CheckResult, type Finding } from "./check.ts";
import type { ComponentChildren } from "preact";
import { explain } from "../failures/explain.ts";
import { titleOf } from "../items/categories.ts";
import { keyOfItem } from "../state/item-key.ts";
import { addressOf } from "../state/route.ts";
import { GROUP_LIST } from "./groups.ts";

/** The check of the passwords that the session reads. It reads nothing before a click, because each read is an entry in the log. */

/** A check that runs, with the number of Items that were tried. */
interface Running {
  readonly all: number;
  readonly tried: number;
}

export function PasswordsView() {
  const vault = useSignal("");
  const running = useSignal<Running | undefined>(undefined);
  const result = useSignal<CheckResult | undefined>(undefined);
  const abort = useRef<AbortController>(undefined);
  const drop = () => {
    abort.current?.abort();
    abort.current = undefined;
    running.value = result.value = undefined;
  };
  // A page whose session has ended keeps its view for the input, but this view has no input.
  useSignalEffect(() => {
    if (sessionState.value !== "signed-in") drop();
  });
  useLayoutEffect(() => drop, []);
  // The chosen one may have been deleted since.
  const chosen = vaults.value.some(({ id }) => id === vault.value) ? vault.value : "";
  const items = itemsOf(chosen);
  const check = async () => {
    drop();
    const controller = (abort.current = new AbortController());
    const isCurrent = (): boolean => abort.current === controller;
    running.value = { all: items.length, tried: 0 };
    const onRead = (tried: number) => isCurrent() && (running.value = { all: items.length, tried });
    const checked = await checkItems(items, { signal: controller.signal, onRead });
    if (!isCurrent()) return;
    [running.value, result.value] = [undefined, checked];
    remind("passwords", checked.findings.due.length);
    afterRender(focusTitle);
  };
  return (
    <Page title="Password check">
      <div class="password-check">
        <p>
          Find reused, weak and old passwords. Items are checked in your browser; each one read is recorded in the activity log.
          Results are not saved.
        </p>
        {listState.value === "loading" && <p class="quiet">Loading…</p>}
        {listState.value === "failed" && <Failure error={listError.value} retry={() => void loadItems()} />}
        {running.value ? (
          <Progress {...running.value} onStop={() => abort.current?.abort()} />
        ) : (
          <div class="buttons">
            <VaultFilter label="Vaults to check" vaults={readable()} value={chosen} onChange={(id) => (vault.value = id)} />
            {items.length > 0 && (
              <button type="button" class="primary" onClick={() => void check()}>
                Check {plural(items.length, "item")}
              </button>
            )}
          </div>
        )}
        {listState.value === "loaded" && <Unchecked none={items.length === 0} />}
        {result.value && <Result {...result.value} />}
      </div>
    </Page>
  );
}

/**
 * Returns the Items that a check reads. Archived Items are left out, because they are out of use. `vault` is the id of a vault; "" for all.
 */
const itemsOf = (vault: string): readonly ItemSummary[] =>
  entries.value.flatMap(({ item }) =>
    item.state === undefined && (vault === "" || item.vault.id === vault) && may(item.vault.id, "r") ? [item] : [],
  );

const readable = () => vaults.value.filter(({ id }) => may(id, "r"));

/** Why there is nothing to check, or less than the session lists. */
function Unchecked({ none }: { readonly none: boolean }) {
  const unreadable = entries.value.filter(({ item }) => !may(item.vault.id, "r")).length;
  if (unreadable > 0)
    return <p class="quiet">{plural(unreadable, "item")} can’t be checked: you need read access. Ask an administrator.</p>;
  return none ? <p class="empty">No items to check. Add or import items first.</p> : null;
}

function Progress({ all, tried, onStop }: Running & { readonly onStop: () => void }) {
  return (
    <>
      <label class="progress">
        {tried.toLocaleString("en")} of {plural(all, "item")}
        <progress max={all} value={tried} />
      </label>
      <p class="actions">
        <button type="button" onClick={onStop}>
          Stop
        </button>
      </p>
    </>
  );
}

/** The results of a check: a part for each group, and a part for unread Items. */

function Result({ findings, read, without, failed, waiting }: CheckResult) {
  return (
    <>
      <output class="verdict">
        {plural(read, "item")} checked{without > 0 && `, ${without.toLocaleString("en")} of them without a password`}
        {waiting > 0 && `; ${plural(waiting, "item")} not tried`}.
      </output>
      {GROUP_LIST.map(([name, { title, text }]) => (
        <Part key={name} title={title} text={text} count={itemsIn(findings[name])}>
          {findings[name].map(({ items, note }) => (
            <li key={keyOfItem(items[0]!)}>
              <span class="quiet">{note}</span>
              {items.map((item) => (
                <ItemLink key={keyOfItem(item)} item={item} />
              ))}
            </li>
          ))}
        </Part>
      ))}
      {failed.length > 0 && (
        <Part title="Not read" text="Items that could not be read." count={failed.length}>
          {failed.map(({ item, error }) => (
            <li key={keyOfItem(item)}>
              <span class="quiet">{explain(error)}</span>
              <ItemLink item={item} />
            </li>
          ))}
        </Part>
      )}
    </>
  );
}

const itemsIn = (findings: readonly Finding[]): number => findings.reduce((sum, { items }) => sum + items.length, 0);

interface PartProps {
  readonly title: string;
  readonly text: string;
  readonly count: number;
  readonly children: ComponentChildren;
}

const Part = ({ title, text, count, children }: PartProps) => (
  <section aria-label={title}>
    <h2>
      {title}: {count === 0 ? "none" : plural(count, "item")}
    </h2>
    <p class="quiet">{text}</p>
    {count > 0 && <ul class="findings">{children}</ul>}
  </section>
);

/** In a tab of its own, because leaving the page drops the result. */
const ItemLink = ({ item }: { readonly item: ItemSummary }) => (
  <a href={addressOf({ view: "items", vault: item.vault.id, item: item.id })} target="_blank" rel="noopener">
    {titleOf(item)} <span class="quiet">{vaultName(item.vault.id)}</span>
  </a>
);
