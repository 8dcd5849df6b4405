/**
 * Searches the comments of a pull request at Gitea and Forgejo, which return all of them in one response. A response that is too
 * large is read again in halves of the time since the pull request was opened, the newest half first.
 */
import { Clock, Effect } from "effect"
import { isTooLarge } from "../ForgeError.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Call, Codec, Rest } from "../http/Http.ts"
import { repoPath } from "../http/Profile.ts"
import { maxCommentReads } from "./Facts.ts"
import { OpenedAt } from "./Responses.ts"

/** Times in seconds. The first range has no start and the last one no end, because the clock of the host may be another. */
interface Times {
  readonly since?: number
  readonly before?: number
}

const toTime = (seconds: number | undefined) =>
  seconds === undefined ? undefined : new Date(seconds * 1000).toISOString()

/**
 * Returns the first result of `search`, which gets the comments since a time (all by default), the newest range first; those at a limit
 * of two ranges are in both.
 */
export const searchComments = Effect.fnUntraced(function* <S extends Codec, A>(
  rest: Rest,
  params: NonNullable<Call["params"]>,
  comments: S,
  search: (comments: S["Type"]) => A | undefined,
  from?: number
): Effect.fn.Return<A | undefined, ForgeError> {
  const read = ({ before, since }: Times) =>
    rest.get(
      { path: `${repoPath}/issues/{index}/comments`, params, query: { since: toTime(since), before: toTime(before) } },
      comments
    )
  const openedAt = Effect.map(
    rest.get({ path: `${repoPath}/pulls/{index}`, params }, OpenedAt),
    ({ created_at: created }) => Math.floor(Date.parse(created) / 1000)
  )
  const now = Math.ceil((yield* Clock.currentTimeMillis) / 1000)
  let opened: number | undefined
  // The newest range is last.
  const ranges: Array<Times> = [from === undefined ? {} : { since: from }]
  for (let reads = 1; ; reads++) {
    const range = ranges.pop()
    if (range === undefined) return undefined
    const result = yield* Effect.result(read(range))
    if (result._tag === "Success") {
      const found = search(result.success)
      if (found !== undefined) return found
      continue
    }
    if (!isTooLarge(result.failure) || reads >= maxCommentReads) return yield* result.failure
    if (range.since === undefined) opened ??= yield* openedAt
    const { since = opened ?? now, before = now } = range
    const middle = Math.floor((since + before) / 2)
    if (middle <= since || middle >= before) return yield* result.failure
    ranges.push({ ...range, before: middle }, { ...range, since: middle })
  }
})
