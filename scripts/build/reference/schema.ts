import type { Document, Schema } from "../../../src/api/openapi/types.ts";
import { nameOf, resolve } from "../document.ts";
import { type Html, html, joined } from "./html.ts";
import { prose } from "./prose.ts";

/** Schemas of the document: a type as a line with links, an object as a list of its attributes. */

/** A type in one line: `ItemSummary[]`, with a link to each named schema. */
export function typeLine(schema: Schema): Html {
  if (schema.$ref !== undefined) return html`<a href="/docs/schemas/#${nameOf(schema.$ref)}">${nameOf(schema.$ref)}</a>`;
  if ("const" in schema) return html`<code>${JSON.stringify(schema.const)}</code>`;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return joined(choices.map(typeLine), " or ");
  if (schema.type === undefined) return html`any value`;
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  return joined(
    types.map((type) => {
      if (type === "array") return html`array of ${typeLine(schema.items ?? {})}`;
      const values = schema.additionalProperties;
      return type === "object" && typeof values === "object" ? html`object of ${typeLine(values)}` : html`${type}`;
    }),
    " or ",
  );
}

/** What is between two numbers; one of them may be absent. The largest safe integer is no limit that a reader needs. */
function range(unit: string, low: number | undefined, high: number | undefined): string[] {
  const [from, to] = [low, high === Number.MAX_SAFE_INTEGER ? undefined : high];
  if (from === undefined && to === undefined) return [];
  if (to === undefined) return from === 0 ? [] : [`at least ${from}${unit}`];
  return [from === undefined ? `at most ${to}${unit}` : from === to ? `${from}${unit}` : `${from} to ${to}${unit}`];
}

/** What a schema says besides its type and description. */
function constraints(schema: Schema): Html[] {
  const plain = [
    ...range("", schema.minimum, schema.maximum),
    ...range(" characters", schema.minLength, schema.maxLength),
    ...range(" entries", schema.minItems, undefined),
    ...range(" attributes", undefined, schema.maxProperties),
    ...(schema.format === undefined ? [] : [`format ${schema.format}`]),
    ...(schema.contentEncoding === undefined ? [] : [schema.contentEncoding]),
  ].map((text) => html`${text}`);
  const values = schema.enum ?? schema.items?.enum;
  return [
    ...(values
      ? [
          html`one of
          ${joined(
            values.map((value) => html`<code>${JSON.stringify(value)}</code>`),
            ", ",
          )}`,
        ]
      : []),
    ...plain,
    ...(schema.pattern === undefined ? [] : [html`pattern <code>${schema.pattern}</code>`]),
  ];
}

/** Constraints as one line, or nothing. */
export function constraintLine(schema: Schema): Html | undefined {
  const all = constraints(schema);
  return all.length === 0 ? undefined : html`<p class="constraints">${joined(all, "; ")}</p>`;
}

/** One row of a list of attributes, parameters or headers. `notes`: short words after the type. `id`: its anchor, if it has one. */
export const row = (name: string, schema: Schema, notes: readonly string[], description: string | undefined, id?: string): Html =>
  html`<div${id === undefined ? "" : html` id="${id}"`}>
    <dt>
      <code>${name}</code>
      <span class="type">${typeLine(schema)}</span>${notes.map((note) => html` <span class="note">${note}</span>`)}
    </dt>
    <dd>${prose(description)}${constraintLine(schema)}${nested(schema)}</dd>
  </div> `;

/** The attributes of an object that has no name of its own, directly or in an array. */
function nested(schema: Schema): Html | undefined {
  if (schema.$ref !== undefined) return undefined;
  if (schema.items) return nested(schema.items);
  const choices = schema.oneOf ?? schema.anyOf ?? [];
  return schema.properties ? attributes(schema) : html`${choices.map(nested)}`;
}

/** An answer has most of its attributes, and a request needs few: the others are marked. */
function attributes({ properties = {}, required = [], additionalProperties }: Schema): Html {
  const [marked, mark] = additionalProperties === false ? [false, "optional"] : [true, "required"];
  const rows = Object.entries(properties).map(([name, schema]) =>
    row(name, schema, required.includes(name) === marked ? [mark] : [], schema.description),
  );
  return html`<dl>${rows}</dl>`;
}

/** A schema in full: its description, constraints and attributes. A reference shows what it names. */
export function wholeSchema(document: Document, schema: Schema): Html {
  const found = resolve<Schema>(document, schema);
  const whole = found.items?.$ref === undefined ? found : resolve<Schema>(document, { $ref: found.items.$ref });
  return html`${prose(schema.description ?? found.description)}${constraintLine(found)}${nested(whole)}`;
}

/** A named schema in the list of all. */
export const namedSchema = (name: string, schema: Schema): Html =>
  html`<article id="${name}">
    <h2><a href="#${name}">${name}</a> <span class="type">${schema.properties ? "object" : typeLine(schema)}</span></h2>
    ${prose(schema.description)}${constraintLine(schema)}${nested(schema)}
  </article> `;
