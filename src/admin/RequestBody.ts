/** Checks the body of a request before it is decoded: JSON in UTF-8, of bounded depth, with text that stores accept. Pure. */
import { measureJson } from "../domain/JsonShape.ts"
import { isStorable, notStorable } from "../domain/Text.ts"
import { BadRequest, invalid, UnsupportedMediaType } from "./api/Problems.ts"

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

const notJson = (detail: string) => new BadRequest({ code: "invalid_json", detail })

const parse = (body: Uint8Array): unknown => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body)
    return measureJson(text, { depth: maxDepth, values: Number.POSITIVE_INFINITY }) === undefined
      ? notJson(`The body nests objects and arrays deeper than ${maxDepth} levels.`)
      : JSON.parse(text)
  } catch {
    return notJson("The body is not JSON in UTF-8.")
  }
}

/** Returns the error of a body; undefined if it can be decoded. An empty body counts as `{}`. */
export const checkBody = (
  body: Uint8Array,
  contentType: string | undefined,
  takesBody: boolean
): BadRequest | UnsupportedMediaType | undefined => {
  if (body.length === 0) return undefined
  if (!takesBody) return invalid("", "expected no body")
  if (contentType?.split(";")[0]?.trim().toLowerCase() !== "application/json") {
    return new UnsupportedMediaType({
      code: "unsupported_media_type",
      detail: "Send the body as JSON, with the header content-type: application/json."
    })
  }
  const value = parse(body)
  if (value instanceof BadRequest) return value
  if (typeof value !== "object" || value === null || Array.isArray(value)) return invalid("", "expected an object")
  const path = findUnstorable(value, "")
  return path === undefined ? undefined : invalid(path, notStorable)
}
