/**
 * Reflection memory around a run: before a review reads anything, what people made of our earlier comments on the same pull request is
 * learnt, and what the repository has taught so far is recalled. None of it may cost a review: what cannot be asked is left for the
 * next one.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../src/config/Snapshot.ts"
import { repositoryKey } from "../src/domain/Change.ts"
import type { Lesson } from "../src/domain/Lesson.ts"
import type { Finding } from "../src/domain/Problem.ts"
import type { ForgeClient } from "../src/forge/Forge.ts"
import { standingThreads } from "../src/outputs/StandingThreads.ts"
import { lessonBounds, reflectionMode } from "../src/review/Reflection.ts"
import { Lessons } from "../src/store/Lessons.ts"
import { Runs } from "../src/store/Runs.ts"
import type { Run } from "../src/store/Runs.ts"

/** Earlier runs in which the finding of a comment is looked for. */
const earlierRuns = 20
/** Lessons that hints are chosen from. */
const recalled = 500

const none: ReadonlyArray<Lesson> = []

export const lessonsFor = Effect.fnUntraced(function* (
  run: Pick<Run, "change" | "targetKey">,
  workspace: Workspace,
  client: ForgeClient
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

/** Lessons of the comments on this pull request that somebody has settled. Asks nothing before there were findings. */
const madeOf = Effect.fnUntraced(function* (
  { change, targetKey }: Pick<Run, "change" | "targetKey">,
  client: ForgeClient,
  dismissal: Workspace["review"]["dismissal"]
) {
  const { kind, number } = change.target
  if (kind !== "pull_request" || number === undefined) return []
  const runs = yield* (yield* Runs).list({ targetKey, limit: earlierRuns })
  const findings = new Map<string, Finding>()
  for (const finding of runs.toReversed().flatMap(({ analysis }) => analysis?.findings ?? [])) {
    findings.set(finding.fingerprint, finding)
  }
  if (findings.size === 0) return []
  return (yield* standingThreads(client, change, number, dismissal)).flatMap(({ fp, state }) => {
    const finding = findings.get(fp)
    return state === "open" || finding === undefined ? [] : [lessonOf(finding, state)]
  })
})

const lessonOf = (
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
