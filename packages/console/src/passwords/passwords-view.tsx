import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ItemSummary } from "@item-vault/client";
import { entries, listError, listState, loadItems, may, vaults } from "../state/items.ts";
import { sessionState } from "../state/session.ts";
import { afterRender } from "../ui/after-render.ts";
import { Failure } from "../ui/failure.tsx";
import { focusTitle, Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { checkItems, type CheckResult } from "./check.ts";
import { Result } from "./result.tsx";

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
  // A page whose session has ended keeps its view for what was typed, and nothing is typed here.
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
            <VaultChoice value={chosen} onChange={(id) => (vault.value = id)} />
            <button type="button" class="primary" disabled={items.length === 0} onClick={() => void check()}>
              Check {plural(items.length, "item")}
            </button>
          </div>
        )}
        {result.value && <Result {...result.value} />}
      </div>
    </Page>
  );
}

/** The Items that a check reads: not the archived ones, which are out of use. In: the id of a vault; empty for all. */
const itemsOf = (vault: string): readonly ItemSummary[] =>
  entries.value.flatMap(({ item }) =>
    item.state === undefined && (vault === "" || item.vault.id === vault) && may(item.vault.id, "r") ? [item] : [],
  );

interface ChoiceProps {
  readonly value: string;
  readonly onChange: (vault: string) => void;
}

function VaultChoice({ value, onChange }: ChoiceProps) {
  const readable = vaults.value.filter(({ id }) => may(id, "r"));
  if (readable.length < 2) return null;
  return (
    <select aria-label="Vaults to check" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      <option value="">All vaults</option>
      {readable.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
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
