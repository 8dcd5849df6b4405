/**
 * What a review says about what an earlier one said: one pure function for issues and threads.
 *
 * | found now | standing at the host   | its files                   | verdict   |
 * | --------- | ---------------------- | --------------------------- | --------- |
 * | yes       | nothing                |                             | fresh     |
 * | yes       | open                   |                             | open      |
 * | yes       | resolved by us         |                             | returned  |
 * | yes       | dismissed by a person  |                             | dismissed |
 * | no        | open                   | all read in this review     | resolved  |
 * | no        | open                   | no longer in the change     | outdated  |
 * | no        | open                   | otherwise                   | kept      |
 *
 * A problem's fingerprint holds while its code is unchanged, so what a person dismissed stays dismissed just that long. A review
 * that did not come to its end (`complete` false) resolves nothing and outdates nothing.
 */
export interface Standing {
  readonly fp: string
  readonly files: ReadonlyArray<string>
  readonly state: "open" | "resolved" | "dismissed"
}

export interface Now<F> {
  /** Problems to show, in order. */
  readonly found: ReadonlyArray<F>
  /** Fingerprints of all problems there are, shown or not. */
  readonly present: ReadonlySet<string>
  /** Paths that were read. */
  readonly analysed: ReadonlySet<string>
  /** All paths of the change, read or left out; undefined where nothing is outdated by leaving the change. */
  readonly changed: ReadonlySet<string> | undefined
  readonly complete: boolean
}

export interface Reconciled<F, S> {
  readonly fresh: ReadonlyArray<F>
  readonly open: ReadonlyArray<{ readonly found: F; readonly standing: S }>
  readonly returned: ReadonlyArray<{ readonly found: F; readonly standing: S }>
  readonly dismissed: ReadonlyArray<F>
  readonly resolved: ReadonlyArray<S>
  readonly outdated: ReadonlyArray<S>
  readonly kept: ReadonlyArray<S>
}

const strength = { open: 2, dismissed: 1, resolved: 0 } as const

/** Where something stands several times: what is open counts before what is closed, the newest (first) before older ones. */
const strongest = <S extends Standing>(standing: ReadonlyArray<S>): ReadonlyMap<string, S> => {
  const best = new Map<string, S>()
  for (const one of standing) {
    const known = best.get(one.fp)
    if (known === undefined || strength[one.state] > strength[known.state]) best.set(one.fp, one)
  }
  return best
}

export const reconcile = <F extends { readonly fp: string }, S extends Standing>(
  now: Now<F>,
  standing: ReadonlyArray<S>
): Reconciled<F, S> => {
  const best = strongest(standing)
  const standingAs = (state: S["state"]) =>
    now.found.flatMap((found) => {
      const there = best.get(found.fp)
      return there?.state === state ? [{ found, standing: there }] : []
    })
  const gone = standing.filter((one) => one.state === "open" && !now.present.has(one.fp))
  const verdict = (one: S): "resolved" | "outdated" | "kept" => {
    if (!now.complete || one.files.length === 0) return "kept"
    if (one.files.every((file) => now.analysed.has(file))) return "resolved"
    return now.changed !== undefined && one.files.every((file) => now.changed?.has(file) === false)
      ? "outdated"
      : "kept"
  }
  return {
    fresh: now.found.filter(({ fp }) => !best.has(fp)),
    open: standingAs("open"),
    returned: standingAs("resolved"),
    dismissed: standingAs("dismissed").map(({ found }) => found),
    resolved: gone.filter((one) => verdict(one) === "resolved"),
    outdated: gone.filter((one) => verdict(one) === "outdated"),
    kept: gone.filter((one) => verdict(one) === "kept")
  }
}
