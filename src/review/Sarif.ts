/**
 * Results of other tools in SARIF, which the author of a change may have written: bounded in number and length, and reduced to
 * plain text. Pure.
 */
import type { ToolResult } from "../domain/ToolResult.ts"

const maxResults = 5000
const maxName = 60
const maxMessage = 300
const maxUri = 2048

/** Returns the results about a file or lines of one; undefined where the text is not SARIF. */
export const readSarif = (text: string): ReadonlyArray<ToolResult> | undefined => {
  const log = parse(text)
  const runs = list(field(log, "runs"))
  if (runs === undefined) return undefined
  const found: Array<ToolResult> = []
  for (const run of runs) {
    const tool = nameOf(field(field(field(run, "tool"), "driver"), "name"))
    for (const result of list(field(run, "results")) ?? []) {
      if (found.length === maxResults) return found
      const one = toResult(tool, result)
      if (one !== undefined) found.push(one)
    }
  }
  return found
}

const toResult = (tool: string, result: unknown): ToolResult | undefined => {
  const place = field(list(field(result, "locations"))?.[0], "physicalLocation")
  const uri = field(field(place, "artifactLocation"), "uri")
  const region = field(place, "region")
  const [start, end] = [field(region, "startLine"), field(region, "endLine")]
  if (tool === "" || typeof uri !== "string" || uri.length > maxUri) return undefined
  if (region !== undefined && !isLine(start)) return undefined
  const text = field(field(result, "message"), "text")
  return {
    tool,
    rule: nameOf(field(result, "ruleId")),
    message: typeof text === "string" ? oneLine(text.slice(0, maxMessage)) : "",
    uri,
    ...(isLine(start) ? { start, end: isLine(end) ? Math.max(start, end) : start } : {})
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text)
  } catch {
    // It is not JSON, which the caller reports.
    return undefined
  }
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

const list = (value: unknown): ReadonlyArray<unknown> | undefined => (Array.isArray(value) ? value : undefined)

const isLine = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value < 10_000_000

const oneLine = (text: string): string => text.replace(/[\p{Cc}\s\u2028\u2029]+/gu, " ").trim()

/** Names are repeated in comments, so only signs without a meaning there are kept. */
const nameOf = (value: unknown): string =>
  typeof value === "string"
    ? value
        .slice(0, maxName)
        .replace(/[^\p{L}\p{N} ._/-]+/gu, "")
        .trim()
    : ""

/** Returns the changed path that a URI names: the path itself, or the longest one that an absolute URI ends with. */
export const pathOfUri = (uri: string, paths: ReadonlySet<string>): string | undefined => {
  const plain = decoded(uri)
    .replace(/^file:/, "")
    .replace(/^(?:\.\/)+/, "")
  for (let at = 0; at >= 0; at = plain.indexOf("/", at) + 1 || -1) {
    const path = plain.slice(at)
    if (paths.has(path)) return path
    if (at === 0 && !plain.startsWith("/")) return undefined
  }
  return undefined
}

const decoded = (uri: string): string => {
  try {
    return decodeURIComponent(uri)
  } catch {
    // An incomplete escape is part of the name.
    return uri
  }
}
