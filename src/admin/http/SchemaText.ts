/** Formats a JSON schema as indented text: one field per line with its type, and its description behind it. */

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const prefix = "#/components/schemas/"

/** Levels of nested records; deeper ones are named only. */
const maxLevels = 4

class SchemaFormatter {
  readonly #schemas: Node

  constructor(schemas: Node) {
    this.#schemas = schemas
  }

  /** Returns the schema that a reference names. */
  #resolve(schema: unknown): Node {
    const reference = isNode(schema) ? schema["$ref"] : undefined
    const found = typeof reference === "string" ? this.#schemas[reference.slice(prefix.length)] : schema
    return isNode(found) ? found : {}
  }

  format(given: unknown, level: number): string {
    const schema = this.#resolve(given)
    const options = listOf(schema["anyOf"] ?? schema["oneOf"])
    if (options.length > 0) return [...new Set(options.map((option) => this.format(option, level)))].join(" | ")
    const values = listOf(schema["enum"])
    if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(" | ")
    if (schema["type"] === "array") return `[${this.format(schema["items"], level)}]`
    if (schema["type"] === "object") return this.#formatObject(schema, level)
    return typeof schema["type"] === "string" ? schema["type"] : "any"
  }

  #formatObject(schema: Node, level: number): string {
    const properties = isNode(schema["properties"]) ? Object.entries(schema["properties"]) : []
    if (properties.length === 0) {
      const rest = schema["additionalProperties"]
      return isNode(rest) ? `{ [name]: ${this.format(rest, level)} }` : "{}"
    }
    if (level >= maxLevels) return "{ … }"
    const required = new Set(listOf(schema["required"]))
    const indent = "  ".repeat(level + 1)
    const lines = properties.map(([name, inner]) => {
      const { description } = this.#resolve(inner)
      const note = typeof description === "string" ? `  // ${description}` : ""
      return `${indent}${name}${required.has(name) ? "" : "?"}: ${this.format(inner, level + 1)}${note}`
    })
    return `{\n${lines.join("\n")}\n${"  ".repeat(level)}}`
  }
}

export const renderSchema = (schema: unknown, schemas: Node): string => new SchemaFormatter(schemas).format(schema, 0)
