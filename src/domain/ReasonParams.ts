/** Parameters of reasons are declared by one word each, from which the type, the check of stored values and the test follow. */
import { Predicate } from "effect"

/**
 * `text`: a name, an id, or what a host, a model or a person wrote. `number`: a count, or a time in milliseconds since the epoch. `texts`:
 * a list. `reason`, `reasons`: nested. With `?` the parameter may be absent.
 */
type ParamKind = "text" | "number" | "texts" | "reason" | "reasons"
export type Params = Readonly<Record<string, ParamKind | `${ParamKind}?`>>

const isList = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isItem)

/** Returns whether a value is of the declared kind. `isReason` checks nested reasons. */
export const isParam = (kind: Params[string], value: unknown, isReason: (value: unknown) => boolean): boolean => {
  switch (kind) {
    case "text":
      return Predicate.isString(value)
    case "number":
      return Predicate.isNumber(value)
    case "texts":
      return isList(value, Predicate.isString)
    case "reason":
      return isReason(value)
    case "reasons":
      return isList(value, isReason)
    case "text?":
    case "number?":
    case "texts?":
    case "reason?":
    case "reasons?":
      return value === undefined || isParam(required[kind], value, isReason)
  }
}

const required = {
  "text?": "text",
  "number?": "number",
  "texts?": "texts",
  "reason?": "reason",
  "reasons?": "reasons"
} as const
