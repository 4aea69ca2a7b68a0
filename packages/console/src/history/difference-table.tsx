import type { Difference } from "./difference.ts";
import { HiddenValue, RevealButton, SecretText, useReveal } from "../ui/reveal.tsx";
import { Button } from "../ui/button.tsx";

interface Props {
  readonly rows: readonly Difference[];
  readonly before: string;
  readonly after: string;
  /** Restores the attribute or field of a row. Absent: nothing can be restored. */
  readonly onRestore?: ((row: Difference) => void) | undefined;
}

/** The differences between two states of an Item: a row for each, with the value of each side. */
export function DifferenceTable({ rows, before, after, onRestore }: Props) {
  if (rows.length === 0) return <p class="quiet">{before} has the same content as the current version.</p>;
  return (
    <table class="cards difference">
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">What differs</span>
          </th>
          <th scope="col">{before}</th>
          <th scope="col">{after}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.key} row={row} before={before} after={after} onRestore={onRestore} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, before, after, onRestore }: Omit<Props, "rows"> & { readonly row: Difference }) {
  const { revealed, toggle } = useReveal(`${row.before}\n${row.after}`);
  const isContent = row.before === undefined && row.after === undefined;
  const hidden = row.concealed && !revealed;
  return (
    <tr class={row.kind}>
      <th scope="row">
        <span>{row.name}</span>
        {row.concealed && <RevealButton name={row.name} revealed={revealed} toggle={toggle} />}
        {onRestore && row.part && (
          <Button icon="back" label={`Restore ${row.name}`} title="Restore this alone" onClick={() => onRestore(row)} />
        )}
      </th>
      <td data-label={before}>
        {isContent ? "other content" : <Value text={row.before} hidden={hidden} secret={row.concealed} />}
      </td>
      <td data-label={after}>{isContent ? "this content" : <Value text={row.after} hidden={hidden} secret={row.concealed} />}</td>
    </tr>
  );
}

function Value({ text, hidden, secret }: Readonly<{ text: string | undefined; hidden: boolean; secret: boolean }>) {
  if (text === undefined) return <span class="quiet">none</span>;
  if (text === "") return <span class="quiet">empty</span>;
  if (hidden) return <HiddenValue />;
  return secret ? <SecretText value={text} /> : <span class="value">{text}</span>;
}
