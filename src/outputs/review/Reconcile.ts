/**
 * Compares the problems of a review with those that exist at the host from earlier reviews: one pure function for issues and
 * threads.
 *
 * | found now | exists at the host     | its files                   | verdict   |
 * | --------- | ---------------------- | --------------------------- | --------- |
 * | yes       | nothing                |                             | fresh     |
 * | yes       | open                   |                             | open      |
 * | yes       | resolved by aicr       |                             | returned  |
 * | yes       | dismissed by a person  |                             | dismissed |
 * | no        | open                   | all read in this review     | resolved  |
 * | no        | open                   | no longer in the change     | outdated  |
 * | no        | open                   | otherwise                   | kept      |
 *
 * Where `isGone` decides in place of the paths, an open problem that was not found is resolved if its code is gone, else kept.
 *
 * A problem's fingerprint is stable while its code is unchanged, so a dismissal lasts just as long. An incomplete review
 * (`complete` false) yields no resolved or outdated problems.
 */
export interface ExistingProblem {
  readonly fp: string
  readonly files: ReadonlyArray<string>
  readonly state: "open" | "resolved" | "dismissed"
}

interface FoundState<F> {
  /** Visible problems, in order. */
  readonly found: ReadonlyArray<F>
  /** Fingerprints of all problems, visible or not. */
  readonly present: ReadonlySet<string>
}

/** Decides by the code at the head. */
export interface CodeState<F, S> extends FoundState<F> {
  readonly isGone: (problem: S) => boolean
}

/** Decides by the paths of a review that reads the whole change. */
interface ReviewState<F> extends FoundState<F> {
  /** Paths that were read. */
  readonly analysed: ReadonlySet<string>
  /**
   * All paths of the change, read or not; undefined where a file that is no longer in the change does not make a problem
   * outdated.
   */
  readonly changed: ReadonlySet<string> | undefined
  readonly complete: boolean
}

export interface Reconciled<F, S> {
  readonly fresh: ReadonlyArray<F>
  readonly open: ReadonlyArray<{ readonly found: F; readonly existing: S }>
  readonly returned: ReadonlyArray<{ readonly found: F; readonly existing: S }>
  readonly dismissed: ReadonlyArray<F>
  readonly resolved: ReadonlyArray<S>
  readonly outdated: ReadonlyArray<S>
  readonly kept: ReadonlyArray<S>
}

const precedence = { open: 2, dismissed: 1, resolved: 0 } as const

/** Picks one entry per fingerprint: open before dismissed before resolved, and the newest (first) before older ones. */
const pickMostRelevant = <S extends ExistingProblem>(problems: ReadonlyArray<S>): ReadonlyMap<string, S> => {
  const mostRelevant = new Map<string, S>()
  for (const problem of problems) {
    const previous = mostRelevant.get(problem.fp)
    if (previous === undefined || precedence[problem.state] > precedence[previous.state])
      mostRelevant.set(problem.fp, problem)
  }
  return mostRelevant
}

export const reconcile = <F extends { readonly fp: string }, S extends ExistingProblem>(
  review: ReviewState<F> | CodeState<F, S>,
  problems: ReadonlyArray<S>
): Reconciled<F, S> => {
  const mostRelevant = pickMostRelevant(problems)
  const matchesInState = (state: S["state"]) =>
    review.found.flatMap((found) => {
      const match = mostRelevant.get(found.fp)
      return match?.state === state ? [{ found, existing: match }] : []
    })
  const missing = problems.filter((problem) => problem.state === "open" && !review.present.has(problem.fp))
  const verdict = (problem: S): "resolved" | "outdated" | "kept" => {
    if ("isGone" in review) return review.isGone(problem) ? "resolved" : "kept"
    if (!review.complete || problem.files.length === 0) return "kept"
    if (problem.files.every((file) => review.analysed.has(file))) return "resolved"
    return review.changed !== undefined && problem.files.every((file) => review.changed?.has(file) === false)
      ? "outdated"
      : "kept"
  }
  return {
    fresh: review.found.filter(({ fp }) => !mostRelevant.has(fp)),
    open: matchesInState("open"),
    returned: matchesInState("resolved"),
    dismissed: matchesInState("dismissed").map(({ found }) => found),
    resolved: missing.filter((problem) => verdict(problem) === "resolved"),
    outdated: missing.filter((problem) => verdict(problem) === "outdated"),
    kept: missing.filter((problem) => verdict(problem) === "kept")
  }
}
