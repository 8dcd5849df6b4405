/**
 * `fetch_more_context` and `try_blame`: reading beyond the diff, at the reviewed revision only, within `review.fetch_extra`.
 * `alias:path` reads a further repository of the workspace, under the same limits; a directory of it is listed.
 * Limits hold for a whole run: passes that share a checkout share its allowance. What comes back is data for the model.
 */
import { Effect } from "effect"
import picomatch from "picomatch"
import type { ReviewConfig } from "../config/schema/Review.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import type { MountedContext, MountedEntry } from "../vcs/ContextRepositories.ts"
import type { ToolInput } from "./Tools.ts"

/** What holds where `review.fetch_extra` sets nothing. */
const defaults = { maxBytes: 256 * 1024, maxFiles: 40 }

/** A file larger than this is not read at all. */
const maxFileBytes = 1024 * 1024
const maxLines = 400
const maxBlameLines = 100
const maxNames = 500

interface Allowance {
  bytes: number
  readonly paths: Set<string>
}

const allowances = new WeakMap<Checkout, Allowance>()
const allowanceOf = (checkout: Checkout): Allowance => {
  const known = allowances.get(checkout)
  if (known !== undefined) return known
  const fresh = { bytes: 0, paths: new Set<string>() }
  allowances.set(checkout, fresh)
  return fresh
}

export interface Reader {
  readonly fetch: (input: ToolInput<"fetch_more_context">) => Effect.Effect<string>
  readonly blame: (input: ToolInput<"try_blame">) => Effect.Effect<string>
}

/** Answers are always text for the model: a refusal says why and what is allowed instead. */
export const reader = (
  checkout: Checkout,
  limits: ReviewConfig["fetch_extra"],
  context: ReadonlyArray<MountedContext> = []
): Reader => {
  const allowance = allowanceOf(checkout)
  const maxBytes = limits.max_bytes ?? defaults.maxBytes
  const maxFiles = limits.max_files ?? defaults.maxFiles
  const allowed = limits.allow_paths === undefined ? undefined : picomatch([...limits.allow_paths], { dot: true })

  /** The repository that a path names by its alias, and the path in it. */
  const foreign = (path: string): { readonly mount: MountedContext; readonly inside: string } | undefined => {
    const colon = path.indexOf(":")
    const mount = context.find(({ alias }) => alias === path.slice(0, colon))
    return mount === undefined ? undefined : { mount, inside: path.slice(colon + 1).replace(/^\.?\/|\/$/g, "") }
  }

  const refusal = (path: string): string | undefined => {
    const inside = foreign(path)?.inside
    if (inside !== "" && !isRepositoryPath(inside ?? path)) {
      return "refused: the path must be relative to the repository, without . and .."
    }
    if (allowed !== undefined && !allowed(path)) return "refused: the configuration does not allow this path"
    if (!allowance.paths.has(path) && allowance.paths.size >= maxFiles) {
      return `refused: the limit of ${maxFiles} extra files for this review is used up`
    }
    return allowance.bytes >= maxBytes
      ? `refused: the limit of ${maxBytes} bytes of extra context is used up`
      : undefined
  }

  // Taken and counted in one step without waiting between, so that concurrent requests cannot both have the last bytes.
  const take = (path: string, lines: ReadonlyArray<string>): string => {
    const late = refusal(path)
    if (late !== undefined) return late
    allowance.paths.add(path)
    const kept: Array<string> = []
    for (const line of lines) {
      const size = Buffer.byteLength(line) + 1
      if (allowance.bytes + size > maxBytes) return [...kept, "(cut: the limit of extra context is used up)"].join("\n")
      allowance.bytes += size
      kept.push(line)
    }
    return kept.join("\n")
  }

  const readOwn = (path: string) =>
    Effect.map(checkout.file(path, "head", maxFileBytes), (text): MountedEntry =>
      text === undefined
        ? { _tag: "Refused", why: "there is no such text file at the reviewed revision, or it is too large" }
        : { _tag: "File", text }
    )

  return {
    fetch: Effect.fnUntraced(function* ({ path: given, range }) {
      const path = given.replace(/^\.\//, "")
      const refused = refusal(path)
      if (refused !== undefined) return refused
      const other = foreign(path)
      const content = yield* Effect.result(
        other === undefined ? readOwn(path) : other.mount.read(other.inside, { maxBytes: maxFileBytes, maxNames })
      )
      if (content._tag === "Failure") return `not available: ${content.failure.message}`
      const entry = content.success
      if (entry._tag === "Refused") return `not available: ${entry.why}`
      if (entry._tag === "Directory") {
        const more = entry.more > 0 ? [`and ${entry.more} more`] : []
        return take(path, [`${path}, a directory:`, ...entry.names, ...more])
      }
      const lines = entry.text.split("\n")
      const { start, end } = span(range, lines.length, maxLines)
      if (start > lines.length) return `not available: the file has ${lines.length} lines`
      const shown = lines.slice(start - 1, end).map((line, at) => `${start + at}: ${line}`)
      return take(path, [`${path}, lines ${start} to ${end} of ${lines.length}:`, ...shown])
    }),

    blame: Effect.fnUntraced(function* ({ path: given, range }) {
      const path = given.replace(/^\.\//, "")
      const refused = refusal(path)
      if (refused !== undefined) return refused
      const other = foreign(path)
      if (other !== undefined) return `not available: ${other.mount.alias} is read at one commit, without its history`
      const { start, end } = span(range, Number.MAX_SAFE_INTEGER, maxBlameLines)
      const blamed = yield* Effect.result(checkout.blame(path, start, end))
      if (blamed._tag === "Failure") return `not available: ${blamed.failure.message}`
      const shown = blamed.success.map(
        ({ line, commit, author, time }) =>
          `${line}: ${commit.slice(0, 12)} ${new Date(time * 1000).toISOString().slice(0, 10)} ${author}`
      )
      return take(path, [`${path}, last change of lines ${start} to ${end}:`, ...shown])
    })
  }
}

/** Relative, normal form, not git's own folder. Symbolic links are not followed: content comes from the object store. */
const isRepositoryPath = (path: string): boolean =>
  path.length > 0 &&
  path.length <= 1024 &&
  // oxlint-disable-next-line no-control-regex
  !/[\u0000-\u001f\\]/.test(path) &&
  path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && part.toLowerCase() !== ".git")

/** `12`, `12-40` or nothing, as inclusive lines of at most `most`. */
const span = (range: string | undefined, total: number, most: number) => {
  const [from, to] = (range ?? "1").split("-").map(Number)
  const start = Math.max(1, from ?? 1)
  const wanted = range === undefined ? start + most - 1 : Math.max(start, to ?? start)
  return { start, end: Math.min(wanted, start + most - 1, total) }
}
