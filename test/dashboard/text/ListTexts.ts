/** Lists the texts of several words in source files, with `{}` in the place of values. Texts of logs, spans and durations are omitted. */
import { readFileSync } from "node:fs"
import { parseAst } from "rolldown/parseAst"

interface Node {
  readonly type: string
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** Functions whose first argument is not shown to operators. */
const unshown = /^(?:Effect\.(?:log\w*|fn|fnUntraced|annotate\w*|withSpan)|Metric\.\w+|repeatedly|retrying|surviving)$/

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return ""
  if (node.type === "Identifier") return String(node["name"])
  if (node.type === "MemberExpression") return `${nameOf(node["object"])}.${nameOf(node["property"])}`
  return node.type === "CallExpression" ? nameOf(node["callee"]) : ""
}

const toText = (node: Node): string | undefined => {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined
  if (node.type !== "TemplateLiteral" || !Array.isArray(node["quasis"])) return undefined
  return node["quasis"].map((quasi: { readonly value: { readonly cooked: string } }) => quasi.value.cooked).join("{}")
}

const isShown = (text: string): boolean =>
  /[a-z]{2}/.test(text) &&
  /\S \S|\S \{|^ \w/.test(text) &&
  !/^\d+ (?:days?|hours?|minutes?|seconds?|millis)$/.test(text)

const walk = (value: unknown, found: Set<string>): void => {
  if (Array.isArray(value)) return value.forEach((one) => walk(one, found))
  if (!isNode(value)) return
  if (value.type.startsWith("Import") || value.type.startsWith("TSType") || value.type.startsWith("TSInterface")) return
  const text = toText(value)
  if (text !== undefined && isShown(text)) found.add(text)
  const skipsFirst = value.type === "CallExpression" && unshown.test(nameOf(value["callee"]))
  for (const [field, child] of Object.entries(value))
    walk(skipsFirst && field === "arguments" && Array.isArray(child) ? child.slice(1) : child, found)
}

export const listTexts = (file: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  walk(parseAst(readFileSync(file, "utf8"), { lang: "ts" }), found)
  return [...found]
}
