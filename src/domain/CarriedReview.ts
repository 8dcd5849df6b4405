/**
 * Reviews that read files which a later review did not read again, because their patches are the same. Each patch of an analysis names the
 * review that read its file, so that a verdict without a call of a model states which models and which configuration it rests on. Pure.
 */
import type { Analysis, CarriedReview, FilePatch } from "./Analysis.ts"

/** An earlier review with its analysis. `statement`: SHA-256 of its statement, in hex. */
interface EarlierReview {
  readonly run: string
  readonly head: string
  readonly configuration: string
  readonly statement?: string | undefined
  readonly analysis: Analysis
}

/** Returns the analysis of an earlier review as another one carries on from it: each patch names the review that read its file. */
export const namedReaders = ({ analysis, statement, ...review }: EarlierReview): Analysis => {
  const { carried = [], models, patches } = analysis
  if (patches === undefined) return analysis
  const own = { ...review, models: models.toSorted(), ...(statement === undefined ? {} : { statement }), files: 0 }
  return {
    ...analysis,
    carried: [...carried, own],
    patches: patches.map((patch) => ({ ...patch, carried: patch.carried ?? carried.length }))
  }
}

/**
 * Returns the reviews that read the files at `unchanged`, each with the number of these files, and the patches with the review that read each.
 * `previous` names the readers of its patches.
 */
export const carriedReaders = (
  { patches = [] }: Pick<Analysis, "patches">,
  previous: Pick<Analysis, "carried" | "patches"> | undefined,
  unchanged: ReadonlyArray<string>
): Pick<Analysis, "carried" | "patches"> => {
  const earlier = new Map(previous?.patches?.map((patch) => [patch.path, patch.carried]))
  const paths = new Set(unchanged)
  const counts = new Map<number, number>()
  for (const path of paths) {
    const reader = earlier.get(path)
    if (reader !== undefined) counts.set(reader, (counts.get(reader) ?? 0) + 1)
  }
  const readers = [...counts.keys()].toSorted((one, other) => one - other)
  const carried = readers.flatMap((reader): ReadonlyArray<CarriedReview> => {
    const review = previous?.carried?.[reader]
    return review === undefined ? [] : [{ ...review, files: counts.get(reader) ?? 0 }]
  })
  if (carried.length === 0) return {}
  const position = new Map(readers.map((reader, index) => [reader, index]))
  return {
    carried,
    patches: patches.map((patch): FilePatch => {
      const reader = paths.has(patch.path) ? position.get(earlier.get(patch.path) ?? -1) : undefined
      return reader === undefined ? patch : { ...patch, carried: reader }
    })
  }
}

const joinLists = <A>(lists: ReadonlyArray<ReadonlyArray<A> | undefined>): ReadonlyArray<A> =>
  lists.flatMap((list) => list ?? [])

/** Returns one patch per file. A file that several changes alter in different ways has none, so that it is read. */
const joinPatches = (analyses: ReadonlyArray<Analysis>): ReadonlyArray<FilePatch> => {
  const byPath = new Map<string, FilePatch | undefined>()
  let first = 0
  for (const { carried = [], patches = [] } of analyses) {
    for (const patch of patches) {
      const known = byPath.get(patch.path)
      const isOther = byPath.has(patch.path) && known?.id !== patch.id
      const own = patch.carried === undefined ? patch : { ...patch, carried: patch.carried + first }
      byPath.set(patch.path, isOther ? undefined : (known ?? own))
    }
    first += carried.length
  }
  return [...byPath.values()].filter((patch) => patch !== undefined)
}

/**
 * Returns the analyses of several changes as one: of files that one of them alters, and of findings in all of them. Its summary and its round
 * are those of the last one. A rule that they read in different versions has the first one.
 */
export const joinAnalyses = (analyses: ReadonlyArray<Analysis>): Analysis | undefined => {
  const last = analyses.at(-1)
  if (last === undefined || analyses.length === 1) return last
  const rules = new Map(
    joinLists(analyses.map(({ inputs }) => inputs?.rules))
      .toReversed()
      .map((rule) => [rule.name, rule])
  )
  const { facts, inputs } = last
  return {
    ...last,
    findings: joinLists(analyses.map(({ findings }) => findings)),
    private: joinLists(analyses.map((one) => one.private)),
    late: joinLists(analyses.map(({ late }) => late)),
    folded: joinLists(analyses.map(({ folded }) => folded)),
    dismissed: joinLists(analyses.map(({ dismissed }) => dismissed)),
    patches: joinPatches(analyses),
    carried: joinLists(analyses.map(({ carried }) => carried)),
    ...(facts === undefined ? {} : { facts: { ...facts, names: joinLists(analyses.map((one) => one.facts?.names)) } }),
    ...(inputs === undefined ? {} : { inputs: { ...inputs, rules: [...rules.values()] } }),
    ...(analyses.some(({ restricted }) => restricted === true) ? { restricted: true } : {})
  }
}
