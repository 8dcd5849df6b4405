/**
 * A second, independent conversation about the same brief (`review.second_pass`), right after the first one. Its problems join those
 * of the first, and equal ones are merged later; it writes no summary. Its failure does not fail the pass, but the files do not count as read
 * in full then. It begins with the same prompt, so it waits until providers have that in their cache.
 */
import { Effect } from "effect"
import { addUsage } from "../../domain/Analysis.ts"
import { addUnusable } from "../../domain/Coverage.ts"
import type { Unusable } from "../../domain/Coverage.ts"
import type { AgentError, AgentReport, Brief } from "../Agent.ts"
import { sharedPrompt } from "../SharedPrompt.ts"
import { distinctReasons } from "../../domain/Reason.ts"

const instruction =
  "This is an independent second review of these files; another reader reports what is obvious. Concentrate on what is overlooked in a first reading: error paths, boundaries, order and concurrency, permissions, untrusted input, and callers in other files. End with publish_summary in one sentence."

export const withSecondPass =
  <R>(analyse: (brief: Brief) => Effect.Effect<AgentReport, AgentError, R>) =>
  (brief: Brief): Effect.Effect<AgentReport, AgentError, R> =>
    brief.secondPass === true ? analyseTwice(analyse, brief) : analyse(brief)

const analyseTwice = Effect.fnUntraced(function* <R>(
  analyse: (brief: Brief) => Effect.Effect<AgentReport, AgentError, R>,
  brief: Brief
): Effect.fn.Return<AgentReport, AgentError, R> {
  const { begin, begun } = sharedPrompt()
  const onBegin = Effect.andThen(begin, brief.onBegin ?? Effect.void)
  const again = analyse({ ...brief, prompt: `${brief.prompt}\n\n${instruction}`, onBegin: undefined })
  const [first, second] = yield* Effect.all(
    [Effect.ensuring(analyse({ ...brief, onBegin }), begin), Effect.andThen(begun, Effect.result(again))],
    { concurrency: 2 }
  )
  if (second._tag === "Success") return join(first, second.success)
  yield* Effect.logWarning("second pass of a review failed", { reason: second.failure.why })
  return { ...first, unusable: addUnusable([...(first.unusable ?? []), failedReading]) }
})

const failedReading: Unusable = { reason: "second_reading", count: 1 }

/** Returns what is missing of the second reading: lost reports, and its end. */
const unusableOf = ({ failure, stopped, unusable = [] }: AgentReport): ReadonlyArray<Unusable> =>
  failure === undefined && stopped === undefined ? unusable : [...unusable, failedReading]

const join = (first: AgentReport, second: AgentReport): AgentReport => ({
  ...first,
  problems: [...first.problems, ...second.problems],
  // A problem makes it a review.
  skipped: second.problems.length === 0 ? first.skipped : undefined,
  models: [...new Set([...first.models, ...second.models])],
  usage: addUsage(first.usage, second.usage),
  notices: distinctReasons([...first.notices, ...second.notices]),
  unusable: addUnusable([...(first.unusable ?? []), ...unusableOf(second)])
})
