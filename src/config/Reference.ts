/** Generates the configuration reference (docs/configuration.md) from the schema files. A test keeps the file up to date. */
import { concepts, keyAliases, listNames, listSpellings } from "../domain/Vocabulary.ts"
import type { Concept } from "../domain/Vocabulary.ts"
import { Document } from "./Document.ts"
import { findExample } from "./fields/Examples.ts"
import { describeField } from "./fields/Field.ts"
import type { FileOnly } from "./fields/Field.ts"
import type { FieldShape, Shape } from "./fields/Shape.ts"
import { expected, readShape, spellingsOfKey } from "./fields/Shape.ts"
import { unconsumedAt } from "./fields/Unconsumed.ts"
import { inEnglish } from "../text/en.ts"
import { stringify } from "yaml"

interface Row {
  readonly path: string
  readonly type: string
  readonly default: string
  readonly example: string
  readonly meaning: string
}

/** Blocks with a section in the reference: layers of them are not repeated. */
const sections = new Set(["agent", "review", "outputs"])
const perWorkspace = "workspaces.instances.<id>"

export const reference = (): string => {
  const root = readShape(Document)
  if (root.type !== "object") return ""
  return [
    introduction,
    ...[...root.fields.values()].flatMap((field) => [
      `## ${field.name}\n\n${describeField(field.meta)}${unreadNamespace(field.name)}\n`,
      table(listRows(field.name, field.shape))
    ]),
    "## Names\n\nA product can be written in any of these spellings, as a value and in the keys below.\n",
    ...concepts.flatMap(names),
    "### Keys\n",
    "| Key | Other spellings |\n|---|---|",
    ...Object.entries(keyAliases).map(([other, name]) => `| \`${name}\` | \`${other}\` |`),
    ""
  ].join("\n")
}

const unreadNamespace = (name: string): string => {
  const row = unconsumedAt(name)
  return row === undefined ? "" : ` **Without effect in this build**: ${row.effect}.`
}

const introduction = `# Configuration reference

The configuration is one YAML document of at most 1 MiB. This page lists all fields. It is generated from \`src/config/schema\`.

| Command | What it does |
|---|---|
| \`aicr config check FILE\` | lists all errors, with their lines |
| \`aicr config show [--workspace ID]\` | prints the effective values and where each comes from |
| \`aicr config schema\` | prints a JSON Schema 2020-12 for editors; with \`--markdown\` this page |

- A null value is the same as an absent one. Values are not converted: \`"7"\` is not 7, and 1 is not true.
- Unknown keys and duplicate keys are errors.
- A credential is either the name of an environment variable (\`token_env: NAME\`) or the value itself (\`token: …\`). Setting both is an error, unless
  the table says that one takes precedence. Variables of webhook secrets, API keys and used databases must be set, otherwise the
  service does not start; \`aicr doctor\` names all that are missing.
- Some fields can be set for all workspaces (globally or in \`workspaces.defaults\`) and for one (\`workspaces.instances.<id>\`). The most specific value
  applies. Maps are merged field by field; lists and single values replace the more general ones.
- Relative paths start at the directory of the configuration file.
- \`[]\` in a path means each entry of a list, \`<id>\` for a key of your choice.
`

const table = (rows: ReadonlyArray<Row>): string =>
  [
    "| Field | Type | Default | Example | Meaning |",
    "|---|---|---|---|---|",
    ...rows.map(
      (row) =>
        `| \`${row.path}\` | ${cell(row.type)} | ${cell(row.default)} | ${cell(row.example)} | ${cell(row.meaning)} |`
    ),
    ""
  ].join("\n")

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ")

/** Returns every field below a path, excluding the path. */
export const listRows = (path: string, shape: Shape): ReadonlyArray<Row> => {
  switch (shape.type) {
    case "list":
      return listRows(`${path}[]`, shape.item)
    case "union":
      return shape.members.flatMap((member) => (member.type === "object" ? listRows(path, member) : []))
    case "object": {
      const own = [...shape.fields.values()].flatMap((field) => fieldRows(`${path}.${field.name}`, field))
      return shape.rest === undefined ? own : [...own, ...listRows(`${path}.<id>`, shape.rest)]
    }
    default:
      return []
  }
}

const fieldRows = (path: string, field: FieldShape): ReadonlyArray<Row> => {
  const { meta, shape } = field
  const spelledOut = meta.layer !== true || (!sections.has(field.name) && !path.startsWith(`${perWorkspace}.`))
  const elsewhere = sections.has(field.name)
    ? ` Fields as in \`${field.name}\`.`
    : ` Fields as in \`workspaces.defaults.${field.name}\`.`
  const others = spellingsOfKey(field)
  const unread = unconsumedAt(path)
  return [
    {
      path,
      type: typeOf(shape),
      default: defaultOf(field),
      example: inYaml(findExample(field)),
      meaning: [
        describeField(meta),
        spelledOut ? "" : elsewhere.trim(),
        others.length === 0 ? "" : `Also written ${others.map((other) => `\`${other}\``).join(", ")}.`,
        rules(field),
        unread === undefined ? "" : `**Without effect in this build**: ${inEnglish(unread.effect)}.`
      ]
        .filter((part) => part !== "")
        .join(" ")
    },
    ...(spelledOut ? listRows(path, shape) : [])
  ]
}

const typeOf = (shape: Shape): string => {
  if (shape.type === "object") {
    if (shape.limits.shorthand !== undefined) return inEnglish(expected(shape))
    return shape.fields.size > 0
      ? "object"
      : shape.rest?.type === "object"
        ? "map"
        : `map of ${shape.rest === undefined ? "values" : typeOf(shape.rest)}`
  }
  if (shape.type === "list") {
    const { minItems = 0, maxItems = 10_000 } = shape.limits
    const bounds = [minItems > 0 ? `at least ${minItems}` : "", maxItems === 10_000 ? "" : `at most ${maxItems}`]
    const words = bounds.filter((part) => part !== "").join(", ")
    return `list of ${typeOf(shape.item)}${words === "" ? "" : ` (${words})`}`
  }
  if (shape.type === "union") return shape.members.map(typeOf).join(", or ")
  if (shape.type === "enum") return shape.values.map((value) => `\`${value}\``).join(", ")
  if (shape.scalar === "secret") return "secret"
  if (shape.limits.env === true) return "variable name"
  if (shape.scalar === "string" && shape.limits.pattern === undefined && shape.limits.format === undefined)
    return "text"
  return inEnglish(expected(shape))
}

const defaultOf = ({ required, meta, shape }: FieldShape): string => {
  if (required) return "required"
  if (meta.defaultText !== undefined) return meta.defaultText
  const value = meta.default ?? meta.runtimeDefault
  if (value === undefined) return "–"
  if (shape.type === "object" && shape.fields.size > 0) return "–"
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\`${meta.default === undefined ? " (at run time)" : ""}`
}

/** Writes a value as YAML in one line. */
const inYaml = (value: unknown): string =>
  value === undefined
    ? "–"
    : `\`${stringify(value, { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: false }).trimEnd()}\``

const rules = ({
  meta: { when, requiredWhen, exclusive, fileOnly, winsOver, refers, reserved },
  shape
}: Pick<FieldShape, "meta" | "shape">): string =>
  [
    when === undefined ? "" : `For ${when.field} ${when.values.join(", ")}.`,
    requiredWhen === undefined ? "" : `Required for ${requiredWhen.field} ${requiredWhen.values.join(", ")}.`,
    exclusive === undefined ? "" : `Not together with ${exclusive.map((other) => `\`${other}\``).join(", ")}.`,
    winsOver === undefined ? "" : `Takes precedence over \`${winsOver}\`.`,
    refers === undefined ? "" : shape.type === "object" ? `Each key names a ${refers}.` : `Names a ${refers}.`,
    fileOnly === undefined ? "" : ownedByFile(fileOnly),
    reserved === undefined ? "" : `**Reserved**: ${inEnglish(reserved)}; setting it gives a warning.`
  ]
    .filter((part) => part !== "")
    .join(" ")

const ownedByFile = ({ applies, because }: FileOnly): string =>
  applies === undefined
    ? `Only the file may set it, because it ${inEnglish(because)}.`
    : `Only the file may set a value that ${inEnglish(because)}.`

const titles: Partial<Record<Concept, string>> = {
  triggerKind: "Trigger kinds",
  repositoryKind: "Context repository kinds",
  agentMode: "Agent modes",
  sandboxKind: "Sandbox kinds",
  sandboxEngine: "Sandbox engines",
  providerKind: "LLM provider kinds",
  queueKind: "Queue kinds",
  databaseKind: "Database kinds",
  cacheKind: "Cache kinds",
  objectKind: "Object kinds",
  templateEngine: "Template engines",
  channelKind: "Channel kinds",
  connectionKind: "Chat connection kinds",
  principalType: "Chat principals",
  scopeKind: "Chat scopes",
  identityScope: "Identity scopes",
  directorySource: "Member directory sources",
  targetKind: "Target kinds",
  weekday: "Weekdays"
}

const names = (concept: Concept): ReadonlyArray<string> => {
  const title = titles[concept]
  if (title === undefined) return []
  return [
    `### ${title}\n`,
    "| Name | Other spellings |\n|---|---|",
    ...listNames(concept).map(
      (name) =>
        `| \`${name}\` | ${
          listSpellings(concept, name)
            .map((other) => `\`${other}\``)
            .join(", ") || "–"
        } |`
    ),
    ""
  ]
}
