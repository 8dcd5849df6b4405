/** Checks responses of the administration against the OpenAPI document that it serves. */
import { Ajv2020 } from "ajv/dist/2020.js"
import type { ValidateFunction } from "ajv"

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)

export const nodeAt = (value: unknown, ...path: ReadonlyArray<string>): Node => {
  let at = value
  for (const key of path) at = isNode(at) ? at[key] : undefined
  return isNode(at) ? at : {}
}

export interface ApiOperation {
  readonly method: string
  readonly path: string
  readonly description: Node
}

/** Lists the operations of a document. */
export const listOperations = (document: unknown): ReadonlyArray<ApiOperation> =>
  Object.entries(nodeAt(document, "paths")).flatMap(([path, item]) =>
    Object.entries(nodeAt(item)).map(([method, description]) => ({
      method: method.toUpperCase(),
      path,
      description: nodeAt(description)
    }))
  )

interface ObservedResponse {
  readonly method: string
  /** Path with the query. */
  readonly path: string
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

export class ApiContract {
  readonly #document: unknown
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #validators = new Map<string, ValidateFunction>()
  readonly #operations: ReadonlyArray<ApiOperation & { readonly parts: ReadonlyArray<string> }>

  constructor(document: unknown) {
    this.#document = document
    this.#operations = listOperations(document).map((one) => ({ ...one, parts: one.path.split("/") }))
  }

  /** Returns the operation of a request; fixed parts of a path are preferred to parameters. */
  #find(method: string, path: string): ApiOperation | undefined {
    const parts =
      path
        .split("?")[0]
        ?.replace(/(?<=.)\/$/, "")
        .split("/") ?? []
    const matching = this.#operations.filter(
      (one) =>
        one.method === (method === "HEAD" ? "GET" : method) &&
        one.parts.length === parts.length &&
        one.parts.every((part, at) => part.startsWith("{") || part === parts[at])
    )
    return matching.toSorted((one, other) => one.path.split("{").length - other.path.split("{").length)[0]
  }

  #validator(name: string, schema: Node): ValidateFunction {
    const known = this.#validators.get(name)
    if (known !== undefined) return known
    const made = this.#ajv.compile({ ...schema, components: nodeAt(this.#document, "components") })
    this.#validators.set(name, made)
    return made
  }

  /** Throws if a response is not one that the document describes. Paths that it lacks are left alone. */
  check({ contentType, method, path, status, text }: ObservedResponse): void {
    const found = this.#find(method, path)
    if (found === undefined) return
    const name = `${found.method} ${found.path} ${status}`
    const { description } = found
    const described = nodeAt(description, "responses", String(status))
    if (Object.keys(described).length === 0) throw new Error(`${name} is not described`)
    const content = nodeAt(described, "content")
    if (Object.keys(content).length === 0) {
      if (text !== "") throw new Error(`${name} has a body that is not described`)
      return
    }
    const media = nodeAt(content, contentType?.split(";")[0] ?? "", "schema")
    if (Object.keys(media).length === 0) throw new Error(`${name}: content type ${contentType} is not described`)
    const validate = this.#validator(name, media)
    if (!validate(JSON.parse(text))) throw new Error(`${name}: ${this.#ajv.errorsText(validate.errors)} in ${text}`)
  }
}
