/** The refusal of a request of an agent: its reason and the path of the field. Names come from the agent and are shortened. Pure. */
import type { WireFormat } from "../../WireGateway.ts"

type RefusedFieldReason =
  /** A field that the table of the format does not have. */
  | { readonly _tag: "UnknownField" }
  /** One field in two spellings. */
  | { readonly _tag: "RepeatedField" }
  /** A part, an item or a message of a kind that the table does not have. */
  | { readonly _tag: "UnknownKind"; readonly kind: string }
  | { readonly _tag: "MissingField" }
  | { readonly _tag: "WrongValue"; readonly expected: string }
  /** A URL or a file where data is required. */
  | { readonly _tag: "Reference" }

const maxNameLength = 60
const maxPathLength = 200

const shorten = (name: string): string => name.replace(/[^\w$.-]/g, "?").slice(0, maxNameLength)

export class RefusedField {
  readonly reason: RefusedFieldReason
  readonly path: string

  constructor(reason: RefusedFieldReason, path = "") {
    this.reason = reason
    this.path = path
  }
  /** Returns the refusal of the value that contains this one under a name, or at an index. */
  within(step: string | number): RefusedField {
    const own = typeof step === "number" ? `[${step}]` : shorten(step)
    const separator = this.path === "" || this.path.startsWith("[") ? "" : "."
    return new RefusedField(this.reason, `${own}${separator}${this.path}`)
  }
}

const describeReason = (reason: RefusedFieldReason): string => {
  switch (reason._tag) {
    case "UnknownField":
      return "is not a field that a review may use"
    case "RepeatedField":
      return "is repeated in another spelling"
    case "UnknownKind":
      return `has the type "${shorten(reason.kind)}", which a review may not use`
    case "MissingField":
      return "is missing"
    case "WrongValue":
      return `must be ${reason.expected}`
    case "Reference":
      return "refers to something outside of the request, which a review may not use; send the data itself"
  }
}

export const describeRefusal = (format: WireFormat, { path, reason }: RefusedField): string =>
  `${path === "" ? "the request" : path.slice(0, maxPathLength)} ${describeReason(reason)} (${format})`
