/** A failed request: a problem of the API (RFC 9457), or no usable response at all. */

import type { Reason } from "../../domain/Reason.ts"

interface FieldIssue {
  readonly path: string
  readonly reason: Reason
}

/** Codes of failures that the API did not report itself. */
const unreachable = "unreachable"

export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body["detail"] === "string" ? body["detail"] : `HTTP ${status}`)
    this.name = "Problem"
    this.status = status
    this.code = typeof body["code"] === "string" ? body["code"] : unreachable
    this.body = body
  }

  /** The service did not respond, or a proxy responded for it. */
  get isUnreachable(): boolean {
    return this.code === unreachable
  }
}

export const toRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}

export const toArray = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const toText = (value: unknown): string => (typeof value === "string" ? value : "")

/** Returns the reason of a problem or of an issue; its English text, such as that of a proxy, if it has none. */
export const readReason = (said: unknown, text: "detail" | "message"): Reason => {
  const { reason, [text]: english } = toRecord(said)
  return typeof toRecord(reason)["_tag"] === "string"
    ? // The service encodes problems with the schema that this type is derived from.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      (reason as Reason)
    : { _tag: "Text", text: toText(english) }
}

/** Returns what is wrong field by field: of a request that is not valid, or of an edit of the configuration that is refused. */
export const fieldIssues = (error: unknown): ReadonlyArray<FieldIssue> =>
  error instanceof Problem
    ? toArray(error.body["issues"]).map((issue) => {
        const { entity, path } = toRecord(issue)
        return { path: [toText(entity), toText(path)].filter(Boolean).join("."), reason: readReason(issue, "message") }
      })
    : []
