/** What `JSON.stringify` says of plain data, in steps: records of reviews hold whole files. Pure. */
import { meter, stepLength } from "../review/Steps.ts"
import type { Steps } from "../review/Steps.ts"

export function* jsonInSteps(value: unknown): Steps<string> {
  const parts: Array<string> = []
  yield* write(value, parts, meter())
  return parts.join("")
}

function* write(value: unknown, parts: Array<string>, enough: ReturnType<typeof meter>): Steps<void> {
  if (typeof value === "string" && value.length > stepLength) return yield* writeText(value, parts)
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value) ?? "null"
    parts.push(text)
    if (enough(text.length)) yield
    return
  }
  const list = Array.isArray(value)
  let between = list ? "[" : "{"
  for (const [key, one] of Object.entries(value)) {
    if (one === undefined && !list) continue
    parts.push(list ? between : `${between}${JSON.stringify(key)}:`)
    between = ","
    yield* write(one, parts, enough)
  }
  parts.push(between === "," ? "" : between, list ? "]" : "}")
}

/** A character of two units may be cut in two: then they are written as numbers, which is the same text. */
function* writeText(text: string, parts: Array<string>): Steps<void> {
  parts.push('"')
  for (let at = 0; at < text.length; at += stepLength) {
    parts.push(JSON.stringify(text.slice(at, at + stepLength)).slice(1, -1))
    yield
  }
  parts.push('"')
}
