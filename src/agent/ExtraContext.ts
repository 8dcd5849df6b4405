/**
 * Tools `fetch_more_context` and `try_blame`, which read beyond the diff, at the reviewed revision only and within
 * `review.fetch_extra` (ContextAllowance.ts). `alias:path` reads a further repository of the workspace under the same limits; its
 * directories are listed. The content is data for the model.
 */
import { Effect } from "effect"
import type { ReviewConfig } from "../config/schema/Review.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import type { MountedContext, MountedEntry } from "../vcs/ContextRepositories.ts"
import { ContextAllowance } from "./ContextAllowance.ts"
import type { ToolInput } from "./Tools.ts"

/** Maximum size of a readable file. */
const maxFileBytes = 1024 * 1024
const maxLines = 400
const maxBlameLines = 100
const maxNames = 500

export interface Reader {
  readonly fetch: (input: ToolInput<"fetch_more_context">) => Effect.Effect<string>
  readonly blame: (input: ToolInput<"try_blame">) => Effect.Effect<string>
}

const relative = (path: string): string => path.replace(/^\.\//, "")

const readOwn = (checkout: Checkout, path: string) =>
  Effect.map(checkout.file(path, "head", maxFileBytes), (text): MountedEntry =>
    text === undefined
      ? { _tag: "Refused", why: "no such text file at the reviewed revision, or it is too large" }
      : { _tag: "File", text }
  )

const fetchFrom = (checkout: Checkout, allowance: ContextAllowance): Reader["fetch"] =>
  Effect.fnUntraced(function* (input) {
    const path = relative(input.path)
    const refusal = allowance.refusal(path)
    if (refusal !== undefined) return refusal
    const mounted = allowance.mounted(path)
    const content = yield* Effect.result(
      mounted === undefined
        ? readOwn(checkout, path)
        : mounted.mount.read(mounted.inside, { maxBytes: maxFileBytes, maxNames })
    )
    if (content._tag === "Failure") return `not available: ${content.failure.message}`
    const entry = content.success
    if (entry._tag === "Refused") return `not available: ${entry.why}`
    if (entry._tag === "Directory") {
      const more = entry.more > 0 ? [`and ${entry.more} more`] : []
      return allowance.take(path, [`${path}, a directory:`, ...entry.names, ...more])
    }
    const lines = entry.text.split("\n")
    const { start, end } = span(input.range, lines.length, maxLines)
    if (start > lines.length) return `not available: the file has ${lines.length} lines`
    const numbered = lines.slice(start - 1, end).map((line, at) => `${start + at}: ${line}`)
    return allowance.take(path, [`${path}, lines ${start} to ${end} of ${lines.length}:`, ...numbered])
  })

const blameFrom = (checkout: Checkout, allowance: ContextAllowance): Reader["blame"] =>
  Effect.fnUntraced(function* (input) {
    const path = relative(input.path)
    const refusal = allowance.refusal(path)
    if (refusal !== undefined) return refusal
    const mounted = allowance.mounted(path)
    if (mounted !== undefined) return `not available: ${mounted.mount.alias} is read at one commit, without its history`
    const { start, end } = span(input.range, Number.MAX_SAFE_INTEGER, maxBlameLines)
    const blamed = yield* Effect.result(checkout.blame(path, start, end))
    if (blamed._tag === "Failure") return `not available: ${blamed.failure.message}`
    const lines = blamed.success.map(
      ({ line, commit, author, time }) =>
        `${line}: ${commit.slice(0, 12)} ${new Date(time * 1000).toISOString().slice(0, 10)} ${author}`
    )
    return allowance.take(path, [`${path}, last change of lines ${start} to ${end}:`, ...lines])
  })

/** Results are always text for the model: a refusal contains the reason and the permitted alternative. */
export const reader = (
  checkout: Checkout,
  limits: ReviewConfig["fetch_extra"],
  context: ReadonlyArray<MountedContext> = []
): Reader => {
  const allowance = new ContextAllowance(checkout, limits, context)
  return { fetch: fetchFrom(checkout, allowance), blame: blameFrom(checkout, allowance) }
}

/** Parses `12`, `12-40` or nothing as an inclusive range of at most `max` lines. */
const span = (range: string | undefined, total: number, max: number) => {
  const [from, to] = (range ?? "1").split("-").map(Number)
  const start = Math.max(1, from ?? 1)
  const wanted = range === undefined ? start + max - 1 : Math.max(start, to ?? start)
  return { start, end: Math.min(wanted, start + max - 1, total) }
}
