/**
 * Reads lines of one file beyond the diff, at the reviewed revision or before the change. `alias:path` reads a further repository of
 * the workspace under the same limits; its directories are listed. The content is data for the model, and a refusal contains the
 * reason and the permitted alternative.
 */
import { Effect } from "effect"
import type { CheckoutError, Revision } from "../../vcs/Checkout.ts"
import type { MountedEntry } from "../../vcs/ContextRepositories.ts"
import type { RepositoryReader } from "./RepositoryReader.ts"

/** Maximum size of a readable file. */
const maxFileBytes = 1024 * 1024
const maxLines = 400
const maxBlameLines = 100
const maxNames = 500

interface LinesInput {
  readonly path: string
  readonly range?: string | undefined
}

const relative = (path: string): string => path.replace(/^\.\//, "")

const own = ({ checkout }: RepositoryReader, path: string, at: Revision) =>
  Effect.map(checkout.file(path, at, maxFileBytes), (text): MountedEntry =>
    text === undefined
      ? {
          _tag: "Refused",
          why: `no such text file ${at === "head" ? "at the reviewed revision" : "before the change"}, or it is too large`
        }
      : { _tag: "File", text }
  )

const show = Effect.fnUntraced(function* (
  { allowance }: RepositoryReader,
  path: string,
  { range }: LinesInput,
  content: Effect.Effect<MountedEntry, CheckoutError>,
  title = path
) {
  const read = yield* Effect.result(content)
  if (read._tag === "Failure") return `not available: ${read.failure.message}`
  const entry = read.success
  if (entry._tag === "Refused") return `not available: ${entry.why}`
  if (entry._tag === "Directory") {
    const more = entry.more > 0 ? [`and ${entry.more} more`] : []
    return allowance.take(path, [`${title}, a directory:`, ...entry.names, ...more])
  }
  const lines = entry.text.split("\n")
  const { start, end } = span(range, lines.length, maxLines)
  if (start > lines.length) return `not available: the file has ${lines.length} lines`
  const numbered = lines.slice(start - 1, end).map((line, at) => `${start + at}: ${line}`)
  return allowance.take(path, [`${title}, lines ${start} to ${end} of ${lines.length}:`, ...numbered])
})

export const readHead = Effect.fnUntraced(function* (reader: RepositoryReader, input: LinesInput) {
  const path = relative(input.path)
  const refusal = reader.allowance.refusal(path)
  if (refusal !== undefined) return refusal
  const mounted = reader.allowance.mounted(path)
  const content =
    mounted === undefined
      ? own(reader, path, "head")
      : mounted.mount.read(mounted.inside, { maxBytes: maxFileBytes, maxNames })
  return yield* show(reader, path, input, content)
})

export const readBase = Effect.fnUntraced(function* (reader: RepositoryReader, input: LinesInput) {
  const path = relative(input.path)
  const refusal = reader.allowance.refusal(path)
  if (refusal !== undefined) return refusal
  const mounted = reader.allowance.mounted(path)
  if (mounted !== undefined) return `not available: ${mounted.mount.alias} is read at one commit, which nothing changes`
  return yield* show(reader, path, input, own(reader, path, "from"), `${path} before the change`)
})

export const readBlame = Effect.fnUntraced(function* ({ allowance, checkout }: RepositoryReader, input: LinesInput) {
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

/** Parses `12`, `12-40` or nothing as an inclusive range of at most `max` lines. */
const span = (range: string | undefined, total: number, max: number) => {
  const [from, to] = (range ?? "1").split("-").map(Number)
  const start = Math.max(1, from ?? 1)
  const wanted = range === undefined ? start + max - 1 : Math.max(start, to ?? start)
  return { start, end: Math.min(wanted, start + max - 1, total) }
}
