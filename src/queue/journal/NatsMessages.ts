/** Messages and pages of snapshots of the journal over JetStream as bytes, and errors of the bus as errors of the journal. */
import { gunzipSync, gzipSync } from "node:zlib"
import { Schema } from "effect"
import type { NatsError } from "../../../nats/NatsError.ts"
import type { LogMessage } from "../../../nats/NatsLog.ts"
import { JournalError } from "./Journal.ts"
import type { JournalPosition, JournalRecord } from "./Journal.ts"

/** Size in bytes above which a message is compressed. */
const packFrom = 8192
const gzipStart = 0x1f

const reasons = {
  unavailable: "unavailable",
  conflict: "unavailable",
  refused: "refused",
  unsupported: "refused",
  too_large: "too_large"
} as const satisfies Record<NatsError["reason"], JournalError["reason"]>

export const toJournalError = ({ message, reason }: NatsError): JournalError =>
  new JournalError({
    reason: reasons[reason],
    why: { _tag: "NatsQueueFails", why: message },
    ...(reason === "unavailable" ? { disconnected: "nats" } : {})
  })

/** State of a node about the journal: the end that it has seen, and the details of all entries. */
export class JournalState {
  readonly details = new Map<string, string>()
  /** The last message that this node has read or written since it connected, and the log that has it. */
  newest: (JournalPosition & { readonly created: string }) | undefined
  /** Sequence of the last message when it was last read. */
  end = 0

  take(details: Iterable<readonly [string, string | null | undefined]>): void {
    for (const [id, text] of details) {
      if (typeof text === "string") this.details.set(id, text)
      else this.details.delete(id)
    }
  }
}

const Details = Schema.Array(Schema.Tuple([Schema.String, Schema.NullOr(Schema.String)]))
const Message = Schema.Struct({ id: Schema.String, after: Schema.String, rows: Schema.String, details: Details })
const Page = Schema.Struct({ rows: Schema.optional(Schema.String), details: Schema.optional(Details) })
const Head = Schema.Struct({
  sequence: Schema.Int,
  id: Schema.String,
  /** Name and length of the list of its pages, and name of the list before it. */
  pages: Schema.String,
  count: Schema.Int,
  earlier: Schema.optional(Schema.String)
})

const decodeMessage = Schema.decodeUnknownSync(Message)
const isPage = Schema.is(Page)
const isHead = Schema.is(Head)

export const encode = (content: object): Uint8Array => {
  const text = Buffer.from(JSON.stringify(content))
  return text.length < packFrom ? text : gzipSync(text, { level: 1 })
}

const parse = (payload: Uint8Array): unknown =>
  JSON.parse((payload[0] === gzipStart ? gunzipSync(payload) : Buffer.from(payload)).toString("utf8"))

/** A message that no release wrote has no predecessor, and rows that cannot be read. */
export const decode = ({ payload, sequence }: LogMessage) => {
  try {
    const { details, ...record } = decodeMessage(parse(payload))
    return { record: { sequence, ...record } satisfies JournalRecord, details }
  } catch {
    const rows = Buffer.from(payload).subarray(0, 100).toString("utf8")
    return { record: { sequence, id: `damaged-${sequence}`, after: undefined, rows: `bytes ${rows}` }, details: [] }
  }
}

export const toHead = (text: string | undefined): typeof Head.Type | undefined => {
  try {
    const head: unknown = JSON.parse(text ?? "")
    return isHead(head) ? head : undefined
  } catch {
    return undefined
  }
}

/** Returns a page whose rows cannot be read for bytes that no release wrote. */
export const decodePage = (payload: Uint8Array): typeof Page.Type => {
  try {
    const page = parse(payload)
    if (isPage(page)) return page
  } catch {
    // The rows of the page show it.
  }
  return { rows: "bytes of another form" }
}
