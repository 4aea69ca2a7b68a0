import { hash } from "node:crypto";
import { parseAst } from "vitest/node";

/** One-line bugs in TypeScript, and a choice of them by a seed. */

export interface Mutation {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  readonly kind: "condition" | "comparison" | "statement" | "off by one";
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Node extends Range {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** The comparison with which each one is confused, in TypeScript and in SQL. */
const COMPARISONS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "=": "!=",
  "!=": "=",
  IS: "IS NOT",
  "IS NOT": "IS",
};

const SQL = /\b(?:SELECT|DELETE FROM|UPDATE|INSERT|WHERE|EXISTS)\b/;
const SQL_OPERATORS = /(?<= )(?:<=|>=|!=|<|>|=|IS NOT(?! NULL)|IS(?! NOT)|AND)(?= )/g;

type Change = Omit<Mutation, "path" | "line" | "original">;

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === "string";

/** Returns the mutations of one node, without those of its children. */
function changesOf(node: Node, source: string): Change[] {
  const text = ({ start, end }: Node): string => source.slice(start, end);
  const change = (kind: Mutation["kind"], replacement: string, { start, end }: Range = node): Change => ({
    kind,
    start,
    end,
    replacement,
  });
  const [left, right] = [node["left"] as Node, node["right"] as Node];
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
      return ["true", "false"].map((value) => change("condition", value, node["test"] as Node));
    case "LogicalExpression":
      return [change("condition", text(left)), change("condition", text(right))];
    case "BinaryExpression": {
      const replacement = COMPARISONS[node["operator"] as string];
      return replacement === undefined ? [] : [change("comparison", `${text(left)} ${replacement} ${text(right)}`)];
    }
    case "ExpressionStatement":
      return typeof node["directive"] !== "string" ? [change("statement", ";")] : [];
    case "ContinueStatement":
    case "BreakStatement":
      return [change("statement", ";")];
    case "Literal":
      if (typeof node["value"] === "number") return [change("off by one", `${node["value"] + 1}`)];
      return typeof node["value"] === "string" ? changesOfSql(node, source) : [];
    case "TemplateElement":
      return changesOfSql(node, source);
    default:
      return [];
  }
}

function changesOfSql({ start, end }: Node, source: string): Change[] {
  const text = source.slice(start, end);
  if (!SQL.test(text)) return [];
  return [...text.matchAll(SQL_OPERATORS)].map(({ 0: operator, index }) => ({
    kind: operator === "AND" ? "condition" : "comparison",
    start: start + index,
    end: start + index + operator.length,
    replacement: operator === "AND" ? "OR" : COMPARISONS[operator]!,
  }));
}

function* nodesOf(node: Node): Generator<Node> {
  if (node.type.startsWith("TS") && node.type !== "TSAsExpression" && node.type !== "TSNonNullExpression") return;
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* nodesOf(child);
  }
}

/** Returns all mutations of a file. A mutation that spans several lines is listed at its first line. */
export function mutationsOf(path: string, source: string): Mutation[] {
  const mutations: Mutation[] = [];
  for (const node of nodesOf(parseAst(source, { lang: "ts" }) as unknown as Node)) {
    for (const { kind, start, end, replacement } of changesOf(node, source)) {
      const line = source.slice(0, start).split("\n").length;
      const original = source.slice(start, end);
      if (original !== replacement) mutations.push({ path, line, kind, start, end, original, replacement });
    }
  }
  return mutations;
}

/**
 * Returns `count` mutations of different lines, as many of each kind. The seed, the file and the texts of the mutation decide, and no line
 * number: after a change of other lines the same seed gives nearly the same mutations.
 */
export function chooseMutations(mutations: readonly Mutation[], seed: string, count: number): Mutation[] {
  const repeats = new Map<string, number>();
  const ranked = mutations.map((mutation) => {
    const key = JSON.stringify([seed, mutation.path, mutation.original, mutation.replacement]);
    repeats.set(key, (repeats.get(key) ?? 0) + 1);
    return { mutation, rank: hash("sha256", `${key}${repeats.get(key)}`) };
  });
  const lines = new Map<string, Mutation>();
  for (const { mutation } of ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))) {
    const place = `${mutation.path}:${mutation.line}`;
    if (!lines.has(place)) lines.set(place, mutation);
  }
  const kinds = [...Map.groupBy(lines.values(), ({ kind }) => kind).values()];
  const turns = Array.from({ length: Math.max(...kinds.map((kind) => kind.length)) }, (_, turn) => turn);
  return turns.flatMap((turn) => kinds.flatMap((kind) => kind[turn] ?? [])).slice(0, count);
}

export const mutate = (source: string, { start, end, replacement }: Mutation): string =>
  source.slice(0, start) + replacement + source.slice(end);
