/** Reads the earlier rounds of a pull request: their number, and the state of what they reported. */
import { Duration, Effect } from "effect"
import { decidedKey, toDecided } from "../../src/domain/Change.ts"
import type { Lesson } from "../../src/domain/Lesson.ts"
import type { EarlierRounds, RememberedFinding } from "../../src/domain/Round.ts"
import { Outcomes } from "../../src/store/Outcomes.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"

/**
 * Returns undefined for a target whose reviews have nothing in common. A merge group is a round of its pull request. The records are read only
 * if an earlier round reported something.
 */
export const readEarlierRounds = Effect.fnUntraced(function* (
  { change, head, id }: Run,
  previous: Run | undefined,
  lessons: ReadonlyArray<Lesson>
) {
  if (toDecided(change).target.kind !== "pull_request") return undefined
  const reported = previous?.analysis?.round?.reported ?? []
  const outcomes =
    reported.length === 0
      ? []
      : yield* Effect.catch((yield* Outcomes).rulings(decidedKey(change)), (error) =>
          Effect.as(Effect.logWarning("outcomes of earlier rounds not read", { run_id: id, error: error.message }), [])
        )
  const rounds: EarlierRounds = {
    number: previous === undefined ? 0 : yield* publishedRound(previous),
    reported: withStates(reported, [
      ...outcomes.map(({ fingerprint, outcome }) => [fingerprint, outcome] as const),
      ...dismissedOf(previous, lessons).map((fingerprint) => [fingerprint, "dismissed"] as const)
    ]),
    isLifted: change.full === true,
    rereads: change.full === true || (change.requestedBy !== undefined && previous?.head === head)
  }
  return rounds
})

/** The end of a publication is awaited for five seconds. */
const publicationStep = Duration.millis(250)
const publicationSteps = 20

/** Returns the number of the last published round; reviews in shadow are not published. A review that read nothing has the number of the one before. */
const publishedRound = Effect.fnUntraced(function* (run: Run) {
  const round = run.analysis?.round
  if (round === undefined) return 0
  const runs = yield* Runs
  let current = run
  for (let step = 0; current.status === "publishing" && step < publicationSteps; step++) {
    yield* Effect.sleep(publicationStep)
    current = (yield* runs.get(run.id)) ?? current
  }
  const isPublished = current.status === "succeeded" && current.reason?._tag !== "InShadow"
  return isPublished || round.isResumed === true ? round.number : round.number - 1
})

const dismissedOf = (previous: Run | undefined, lessons: ReadonlyArray<Lesson>): ReadonlyArray<string> => [
  ...(previous?.analysis?.dismissed ?? []),
  ...lessons.flatMap(({ fingerprint, verdict }) => (verdict === "dismissed" ? [fingerprint] : []))
]

/** Later states replace earlier ones, but a withdrawal is also a dismissal at the host. */
const withStates = (
  reported: ReadonlyArray<RememberedFinding>,
  states: ReadonlyArray<readonly [fingerprint: string, state: RememberedFinding["state"]]>
): ReadonlyArray<RememberedFinding> => {
  const known = new Map<string, RememberedFinding["state"]>()
  for (const [fingerprint, state] of states) if (known.get(fingerprint) !== "withdrawn") known.set(fingerprint, state)
  return reported.map((one) => ({ ...one, state: known.get(one.fingerprint) ?? one.state }))
}
