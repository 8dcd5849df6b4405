/**
 * Reads the required fields from the bytes of a delivery. It uses typed readers instead of a schema: they read some twenty fields
 * of a payload that has hundreds (1 µs in addition to the 15 µs that JSON.parse takes for 10 KB). Values are bounded in length
 * and validated, because repository names, branches and commit ids later become paths and arguments. Exceptions never leave this
 * file: `parseDelivery` converts every failure to a `Rejected` with its path.
 */
import type { Person, Repo } from "../../domain/Change.ts"
import type { CommitFacts, HostEvent } from "../../domain/HostEvent.ts"
import { isStorable, notStorable, toStorable, truncate } from "../../domain/Text.ts"
import type { Parsed, RejectedFacts } from "../Forge.ts"

export interface PayloadJson {
  readonly [key: string]: unknown
}

/** Deliveries of real hosts nest about ten deep. */
const maxDepth = 200
const tooDeep = `nested deeper than ${maxDepth} levels`

export const limits = {
  name: 255,
  title: 1000,
  description: 65_536,
  url: 2048,
  labels: 200,
  commits: 100,
  message: 10_000
} as const

type Rejected = Extract<Parsed, { readonly _tag: "Rejected" }>

class InvalidPayload extends Error {
  readonly path: string
  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/** The text `key` of `parent` cannot be stored. The path of `parent` is determined only when the error is reported. */
class NotStorable extends Error {
  readonly parent: PayloadJson
  readonly key: string
  constructor(parent: PayloadJson, key: string) {
    super(notStorable)
    this.parent = parent
    this.key = key
  }
}

const isRecord = (value: unknown): value is PayloadJson =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const child = (parent: PayloadJson | undefined, key: string): PayloadJson | undefined => {
  const value = parent?.[key]
  return isRecord(value) ? value : undefined
}

export const children = (parent: PayloadJson | undefined, key: string): ReadonlyArray<PayloadJson> => {
  const value = parent?.[key]
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** Returns a non-empty string, truncated to `max` characters. Text that cannot be stored ends parsing. */
export const text = (parent: PayloadJson | undefined, key: string, max: number = limits.name): string | undefined => {
  const value = parent?.[key]
  if (typeof value !== "string" || value === "") return undefined
  if (parent !== undefined && !isStorable(value)) throw new NotStorable(parent, key)
  return truncate(value, max)
}

/**
 * Like `text`, for text that is matched and not stored: it is repaired instead, because one commit must not hide the others of
 * its push.
 */
const matchedText = (parent: PayloadJson | undefined, key: string, max: number = limits.name): string | undefined => {
  const value = parent?.[key]
  return typeof value === "string" && value !== "" ? truncate(toStorable(value), max) : undefined
}

export const integer = (parent: PayloadJson | undefined, key: string): number | undefined => {
  const value = parent?.[key]
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined
}

/** Returns a positive number as the id of what has it. */
export const numberedId = (parent: PayloadJson | undefined, key: string): string | undefined => {
  const value = integer(parent, key)
  return value !== undefined && value > 0 ? String(value) : undefined
}

export const flag = (parent: PayloadJson | undefined, key: string): boolean => parent?.[key] === true

/** Returns an HTTP(S) URL without credentials; undefined for any other value. */
export const webUrl = (parent: PayloadJson | undefined, key: string): string | undefined => {
  const value = text(parent, key, limits.url + 1)
  return value !== undefined && value.length <= limits.url && /^https?:\/\/[^\s/@]+(\/\S*)?$/.test(value)
    ? value
    : undefined
}

/** Returns the value, or ends parsing with an issue at `path`. */
export const requireValue = <A>(value: A | undefined, path: string, expected: string): A => {
  if (value === undefined) throw new InvalidPayload(path, `expected ${expected}`)
  return value
}

export const requireNumber = (parent: PayloadJson | undefined, key: string, path: string): number => {
  const value = integer(parent, key)
  return requireValue(value !== undefined && value > 0 ? value : undefined, path, "a positive integer")
}

const commitId = /^([0-9a-f]{40}|[0-9a-f]{64})$/

/** True for the all-zero id that hosts send where there is no commit. */
export const isZero = (id: string): boolean => /^0+$/.test(id)

export const commit = (parent: PayloadJson | undefined, key: string, path: string): string | undefined => {
  const value = text(parent, key)
  if (value === undefined) return undefined
  return requireValue(commitId.test(value) ? value : undefined, path, "a commit id of 40 or 64 lower-case hex digits")
}

// Matches what git check-ref-format refuses, and a leading dash, which git would parse as an option.
// eslint-disable-next-line no-control-regex
const badRef = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|^[-/]|\/\/|[/.]$/

export const branch = (value: string | undefined, path: string): string | undefined => {
  if (value === undefined) return undefined
  return requireValue(
    value.length <= limits.name && !badRef.test(value) ? value : undefined,
    path,
    "a valid branch name"
  )
}

const repoName = /^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+){1,20}$/

/** Returns `owner/name` in the host's spelling; no part may be `.` or `..`. */
export const fullName = (value: string | undefined, path: string): string =>
  requireValue(
    value !== undefined && repoName.test(value) && !/(^|\/)\.{1,2}(\/|$)/.test(value) ? value : undefined,
    path,
    "a repository name of the form owner/name"
  )

export const person = (username: string | undefined, name: string | undefined): Person | undefined =>
  username === undefined ? undefined : name === undefined ? { username } : { username, name }

export const repo = (parts: {
  readonly fullName: string
  readonly cloneUrl: string | undefined
  readonly webUrl: string | undefined
  readonly hostId: number | undefined
}): Repo => ({
  fullName: parts.fullName,
  ...(parts.cloneUrl === undefined ? undefined : { cloneUrl: parts.cloneUrl }),
  ...(parts.webUrl === undefined ? undefined : { webUrl: parts.webUrl }),
  ...(parts.hostId === undefined ? undefined : { hostId: parts.hostId })
})

/** Returns the commits of a push; all hosts use the same form. */
export const listedCommits = (payload: PayloadJson): ReadonlyArray<CommitFacts> =>
  children(payload, "commits")
    .slice(0, limits.commits)
    .map((listed) => {
      const author = child(listed, "author")
      return {
        author: matchedText(author, "username") ?? matchedText(author, "name"),
        email: matchedText(author, "email"),
        message: matchedText(listed, "message", limits.message) ?? ""
      }
    })

/**
 * Returns true when the text has more than `max` opening brackets: fewer cannot nest deeper. Much cheaper than reading each
 * character.
 */
const hasBrackets = (json: string, max: number): boolean => {
  let remaining = max
  for (const bracket of ["{", "["]) {
    for (let position = json.indexOf(bracket); position !== -1; position = json.indexOf(bracket, position + 1))
      if (--remaining < 0) return true
  }
  return false
}

/** Returns true when brackets outside strings nest deeper than `maxDepth`. Reads the whole text. */
const nestsTooDeep = (json: string): boolean => {
  let depth = 0
  let quoted = false
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (quoted) {
      if (char === 92) at++
      else if (char === 34) quoted = false
    } else if (char === 34) quoted = true
    else if (char === 123 || char === 91) {
      if (++depth > maxDepth) return true
    } else if (char === 125 || char === 93) depth--
  }
  return false
}

/** Returns the path of a text in the payload, through objects and lists of objects as the readers do. */
const findPath = (payload: PayloadJson, { key, parent }: NotStorable): string => {
  const open: Array<readonly [value: unknown, path: string]> = [[payload, ""]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, path] = next
    if (value === parent) return `${path}${key}`
    if (Array.isArray(value)) value.forEach((item, index) => open.push([item, `${path.slice(0, -1)}[${index}].`]))
    else if (isRecord(value)) for (const name in value) open.push([value[name], `${path}${name}.`])
  }
  return key
}

/** Reads a value that only describes the delivery: an invalid one is undefined instead of a refusal. */
export const optional = <A>(read: () => A | undefined): A | undefined => {
  try {
    return read()
  } catch (error) {
    if (error instanceof InvalidPayload || error instanceof NotStorable) return undefined
    throw error
  }
}

/** The functions of a host that read its payloads. `read` may end by `requireValue`; `describe` reads the facts of a refused payload. */
interface PayloadReader {
  readonly read: (event: string, payload: PayloadJson) => HostEvent
  readonly describe: (event: string, payload: PayloadJson) => RejectedFacts
}

/** Decodes a delivery and reads it with `reader`. `eventHeader` names the header for the message. */
export const parseDelivery = (
  bytes: Uint8Array | undefined,
  event: string | undefined,
  eventHeader: string,
  { describe, read }: PayloadReader
): Parsed => {
  const rejected = (reason: Rejected["reason"], path: string, message: string, payload?: PayloadJson): Rejected => ({
    _tag: "Rejected",
    reason,
    event,
    facts: payload === undefined ? undefined : describe(event ?? "", payload),
    issues: [{ path, message }]
  })
  if (event === undefined) return rejected("missing_event", eventHeader, "the header that names the event is missing")
  if (bytes === undefined) return rejected("invalid_json", "payload", "the form has no readable payload field")
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  if (hasBrackets(json, maxDepth) && nestsTooDeep(json)) return rejected("invalid_json", "", tooDeep)
  let payload: unknown
  try {
    payload = JSON.parse(json)
  } catch {
    // The message of JSON.parse is not used, because it quotes the body.
    return rejected("invalid_json", "", "the body is not valid JSON")
  }
  if (!isRecord(payload)) return rejected("invalid_payload", "", "expected a JSON object")
  try {
    return { _tag: "Event", event: read(event, payload) }
  } catch (error) {
    if (error instanceof InvalidPayload) return rejected("invalid_payload", error.path, error.message, payload)
    if (error instanceof NotStorable)
      return rejected("invalid_payload", findPath(payload, error), error.message, payload)
    throw error
  }
}
