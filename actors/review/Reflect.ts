/**
 * Reads and writes reflection memory for a run. Before a review it learns from the reactions to earlier comments on the same pull request
 * and recalls the lessons of the repository. Failures never fail a review: the next one tries again.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { repositoryKey } from "../../src/domain/Change.ts"
import type { Lesson } from "../../src/domain/Lesson.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import { listExistingThreads } from "../../src/outputs/ExistingThreads.ts"
import { lessonBounds, reflectionMode } from "../../src/review/Reflection.ts"
import { Lessons } from "../../src/store/Lessons.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"

/** Earlier runs searched for the finding of a comment. */
const earlierRuns = 20
/** Lessons from which hints are chosen. */
const recalled = 500

const none: ReadonlyArray<Lesson> = []

export const lessonsFor = Effect.fnUntraced(function* (
  run: Pick<Run, "change" | "targetKey">,
  workspace: Workspace,
  client: ForgeClient | undefined
) {
  const { reflection } = workspace.review
  if (reflectionMode(reflection) === "off") return none
  const lessons = yield* Lessons
  const repository = repositoryKey(run.change)
  const bounds = lessonBounds(reflection)
  const now = yield* Clock.currentTimeMillis
  return yield* Effect.gen(function* () {
    const made = yield* madeOf(run, client, workspace.review.dismissal)
    if (made.length > 0) yield* lessons.learn(repository, made, bounds, now)
  }).pipe(
    Effect.catch(({ message }) =>
      Effect.logWarning("reactions to earlier comments not recorded", { target: run.targetKey, error: message })
    ),
    Effect.andThen(lessons.recall(repository, now - bounds.keepMillis, recalled)),
    Effect.catch(({ message }) =>
      Effect.as(Effect.logWarning("lessons of the repository unavailable", { repository, error: message }), none)
    )
  )
})

/** Returns lessons from resolved comments of this pull request. Sends no request if no earlier run had findings. */
const madeOf = Effect.fnUntraced(function* (
  { change, targetKey }: Pick<Run, "change" | "targetKey">,
  client: ForgeClient | undefined,
  dismissal: Workspace["review"]["dismissal"]
) {
  const { kind, number } = change.target
  if (kind !== "pull_request" || number === undefined || client === undefined) return []
  const runs = yield* (yield* Runs).list({ targetKey, limit: earlierRuns })
  const findings = new Map<string, Finding>()
  for (const finding of runs.toReversed().flatMap(({ analysis }) => analysis?.findings ?? [])) {
    findings.set(finding.fingerprint, finding)
  }
  if (findings.size === 0) return []
  return (yield* listExistingThreads(client, change, number, dismissal)).flatMap(({ fp, state }) => {
    const finding = findings.get(fp)
    return state === "open" || finding === undefined ? [] : [toLesson(finding, state)]
  })
})

/** Returns what is remembered of a finding about which people decided, or that was fixed. */
export const toLesson = (
  { fingerprint, anchor, problem }: Finding,
  verdict: Lesson["verdict"]
): Omit<Lesson, "learnedAt"> => ({
  fingerprint,
  verdict,
  category: problem.category,
  severity: problem.severity,
  path: anchor?.path ?? problem.file,
  title: problem.title ?? problem.message,
  quote: problem.quote ?? ""
})
