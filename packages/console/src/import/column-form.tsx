import type { ColumnChoice } from "@item-vault/transfer/formats/csv/header";
import { CHOICES } from "@item-vault/transfer/formats/csv/parts";
import { isolate } from "../ui/texts.ts";
import type { Import } from "./create-import.ts";
import { StageHeading } from "./stage-heading.tsx";
import type { Problem } from "./stage.ts";

interface Props {
  readonly shown: Import;
  readonly columns: readonly ColumnChoice[];
  readonly problem: Problem | undefined;
}

/** Asks for the meaning of each column of a CSV file. Its name suggests the answer; a column with an unknown name becomes a hidden field. */
export function ColumnForm({ shown, columns, problem }: Props) {
  const earlier = shown.reading.value.columns;
  const unique = [...new Map(columns.map((one) => [one.column.toLowerCase(), one])).entries()];
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const selects = (event.currentTarget as HTMLFormElement).querySelectorAll("select");
    shown.read({ format: "csv", columns: new Map(unique.map(([key], n) => [key, selects[n]!.value])) });
  };
  return (
    <form onSubmit={onSubmit}>
      <StageHeading>Columns of “{isolate(shown.file.value?.name ?? "")}”</StageHeading>
      {problem && (
        <p class="failure" role="alert">
          {problem.text}
        </p>
      )}
      <p>
        We don’t know which app wrote this file. Choose what each column holds. The first row is not imported: it must contain the
        column names.
      </p>
      <fieldset class="targets">
        <legend class="unseen">Columns</legend>
        {unique.map(([key, { column, part }]) => (
          <label key={key}>
            {isolate(column) || "(no name)"}
            <select>
              {CHOICES.map(({ name, label }) => (
                <option key={name} value={name} selected={name === (earlier?.get(key) ?? part ?? "concealed")}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        ))}
      </fieldset>
      <p class="actions">
        <button class="primary">Continue</button>
        <button type="button" onClick={shown.close}>
          Choose another file
        </button>
      </p>
    </form>
  );
}
