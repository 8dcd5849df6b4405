/** Checks a normalised document against the schema: returns a typed value, or every error. */
import { Redacted, Result, Schema } from "effect"
import type { SchemaIssue } from "effect"
import type { GivenDocument } from "../Document.ts"
import { Document } from "../Document.ts"
import type { Complaint } from "./Normalise.ts"
import type { Path } from "./Path.ts"
import { isRecord, valueAt } from "./Path.ts"
import type { Shape } from "../fields/Shape.ts"
import { expected, shapeAt, readShape } from "../fields/Shape.ts"
import { suggest } from "../fields/Suggest.ts"
import type { Reason } from "../../domain/Reason.ts"
import { verbatimReason } from "../../domain/Reason.ts"

const decoder = Schema.decodeUnknownResult(Document, { errors: "all", onExcessProperty: "error" })

/** Returns the typed document without defaults, or its errors; paths have canonical names. */
export const decode = (tree: unknown): Result.Result<GivenDocument, ReadonlyArray<Complaint>> =>
  Result.mapError(decoder(tree), (error) => {
    const places = new Map<string, { readonly path: Path; readonly missing: boolean }>()
    collect(error.issue, [], (path, missing) => places.set(JSON.stringify(path), { path, missing }))
    return [...places.values()].map(({ path, missing }) => describe(tree, path, missing))
  })

const collect = (issue: SchemaIssue.Issue, path: Path, place: (path: Path, missing: boolean) => void): void => {
  switch (issue._tag) {
    case "Pointer":
      return collect(
        issue.issue,
        [...path, ...issue.path.map((segment) => (typeof segment === "number" ? segment : String(segment)))],
        place
      )
    case "Composite":
      return issue.issues.forEach((inner) => collect(inner, path, place))
    case "Encoding":
    case "Filter":
      return collect(issue.issue, path, place)
    case "AnyOf": {
      // A map or list among alternatives is checked as the one that it could be.
      const inside = issue.issues.find((inner) => inner._tag === "Composite")
      return inside === undefined ? place(path, false) : collect(inside, path, place)
    }
    case "MissingKey":
      return place(path, true)
    default:
      return place(path, false)
  }
}

const describe = (tree: unknown, at: Path, missing: boolean): Complaint => {
  const root = readShape(Document)
  const path = insideSecret(tree, at)
  const shape = shapeAt(root, path)
  const wanted: Reason = shape === undefined ? { _tag: "KnownValue" } : expected(shape)
  if (missing) return { path, reason: { _tag: "ValueMissing", expected: wanted }, at: "value" }
  return {
    path,
    reason: { _tag: "ValueWrong", expected: wanted, found: found(shape, valueAt(tree, path)) },
    at: "value"
  }
}

/** Moves an issue inside a `Redacted` to the field that holds it. */
const insideSecret = (tree: unknown, path: Path): Path => {
  const parent = path.slice(0, -1)
  return path.at(-1) === "value" && Redacted.isRedacted(valueAt(tree, parent)) ? parent : path
}

/** Returns the actual value for a message. Text is quoted unless the field holds credentials, because it might be one. */
const mayBeSecret = (shape: Shape): boolean =>
  shape.type === "union"
    ? shape.members.some(mayBeSecret)
    : shape.type === "scalar" && (shape.scalar === "secret" || shape.limits.env === true)

/** Masks the password of an address. */
const shownText = (value: string): string => {
  const text = value.replace(/\/\/[^/@\s]*@/, "//********@")
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text)
}

const found = (shape: Shape | undefined, value: unknown): Reason => {
  if (value === undefined) return { _tag: "FoundNothing" }
  if (value === null || typeof value === "boolean") return verbatimReason(`${value}`)
  if (Redacted.isRedacted(value)) return { _tag: "FoundWrongLength" }
  if (Array.isArray(value))
    return shape?.type === "list" ? { _tag: "FoundEntries", count: value.length } : { _tag: "ListOf" }
  if (isRecord(value)) return { _tag: "MapOf" }
  if (typeof value === "number") return { _tag: "FoundNumber", number: value }
  return typeof value === "string" ? foundText(shape, value) : { _tag: "FoundOther" }
}

const foundText = (shape: Shape | undefined, value: string): Reason => {
  if (shape?.type === "enum" && value.length <= 64) {
    return { _tag: "FoundText", text: JSON.stringify(value), suggestion: suggest(value, shape.spellings.keys()) }
  }
  if (value.includes("${")) return { _tag: "FoundVariable" }
  const hint = shape?.limits.hint?.(value)
  if (hint !== undefined) return { _tag: "FoundForm", text: JSON.stringify(hint) }
  if (/^-?\d+(\.\d+)?$/.test(value) && value.length <= 20) return { _tag: "FoundNumberText", text: value }
  if (/^(true|false|yes|no|on|off)$/i.test(value)) return { _tag: "FoundFlagText", text: value }
  if (value === "") return { _tag: "FoundEmptyText" }
  if (shape === undefined || shape.type === "list" || shape.type === "object" || mayBeSecret(shape))
    return { _tag: "FoundOtherText" }
  return verbatimReason(shownText(value))
}
