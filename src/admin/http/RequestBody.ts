/** Checks the body of a request before it is decoded: JSON in UTF-8, of bounded depth, with text that stores accept. Pure. */
import { measureJson } from "../../domain/JsonShape.ts"
import { isStorable } from "../../domain/Text.ts"
import { because, BadRequest, invalid, UnsupportedMediaType } from "../api/Problems.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Maximum number of nested objects and arrays. */
export const maxDepth = 64

/** Returns the path of the first text that a store refuses. */
const findUnstorable = (value: unknown, path: string): string | undefined => {
  if (typeof value === "string") return isStorable(value) ? undefined : path
  if (typeof value !== "object" || value === null) return undefined
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return path
    const found = findUnstorable(inner, path === "" ? key : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

const notJson = (reason: Reason) => new BadRequest({ code: "invalid_json", ...because(reason) })

const parse = (body: Uint8Array): unknown => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body)
    return measureJson(text, { depth: maxDepth, values: Number.POSITIVE_INFINITY }) === undefined
      ? notJson({ _tag: "BodyTooDeep", count: maxDepth })
      : JSON.parse(text)
  } catch {
    return notJson({ _tag: "BodyNotJson" })
  }
}

/** Returns the error of a body; undefined if it can be decoded. An empty body counts as `{}`. */
export const checkBody = (
  body: Uint8Array,
  contentType: string | undefined,
  takesBody: boolean
): BadRequest | UnsupportedMediaType | undefined => {
  if (body.length === 0) return undefined
  if (!takesBody) return invalid("", { _tag: "NoBodyExpected" })
  if (contentType?.split(";")[0]?.trim().toLowerCase() !== "application/json") {
    return new UnsupportedMediaType({
      code: "unsupported_media_type",
      ...because({ _tag: "JsonExpected" })
    })
  }
  const value = parse(body)
  if (value instanceof BadRequest) return value
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return invalid("", { _tag: "ObjectExpected" })
  const path = findUnstorable(value, "")
  return path === undefined ? undefined : invalid(path, { _tag: "TextNotStorable" })
}
