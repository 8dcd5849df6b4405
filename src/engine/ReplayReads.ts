/** The checkout and the further repositories of a recorded review, out of its record. */
import { Effect, Stream } from "effect"
import { CheckoutError } from "../vcs/Checkout.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import type { ContextMounts } from "./ContextMounts.ts"
import type { ReviewRecord } from "./ReviewRecord.ts"

export interface Replayed {
  readonly checkout: Checkout
  readonly context: ContextMounts
  /** What was asked for and is not in the record, because the recorded review did not read it. */
  readonly missing: ReadonlySet<string>
}

const bytesOf = (text: string) => Stream.succeed<Uint8Array>(Buffer.from(text, "utf8"))

export const replayReads = (record: ReviewRecord, diff: string): Replayed => {
  const missing = new Set<string>()
  const files = new Map(record.files.map(({ key, text }) => [key, text]))
  const lists = new Map(record.lists.map(({ key, names }) => [key, names]))
  const blames = new Map(record.blames.map(({ key, lines }) => [key, lines]))
  const { commits } = record
  const checkout: Checkout = {
    head: record.head,
    from: record.from,
    directory: Effect.fail(new CheckoutError({ reason: "missing", message: "a replayed review has no files on disk" })),
    diff: bytesOf(diff),
    commits: Effect.succeed(commits?.map(({ id, title, diff: patch }) => ({ id, title, diff: bytesOf(patch) }))),
    file: (path, at, maxBytes) =>
      Effect.sync(() => {
        const key = `${at}:${path}`
        if (!files.has(key)) missing.add(path)
        const text = files.get(key)
        return text === undefined || Buffer.byteLength(text) > maxBytes ? undefined : text
      }),
    list: (directory, at, limit) => Effect.sync(() => (lists.get(`${at}:${directory}`) ?? []).slice(0, limit)),
    blame: (path, start, end) =>
      Effect.sync(() => {
        const lines = blames.get(`${path}:${start}-${end}`)
        if (lines === undefined) missing.add(path)
        return lines ?? []
      })
  }
  const mounted = record.context.mounted.map(({ alias, commit, reads }) => {
    const entries = new Map(reads.map(({ key, entry }) => [key, entry]))
    return {
      alias,
      commit,
      read: (path: string) =>
        Effect.sync(() => {
          const entry = entries.get(path)
          if (entry === undefined) missing.add(`${alias}:${path}`)
          return entry ?? ({ _tag: "Refused", why: "the recorded review did not read it" } as const)
        })
    }
  })
  return { checkout, context: { mounted, notices: record.context.notices }, missing }
}
