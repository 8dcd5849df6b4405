/**
 * States of the findings of a change when it ends, from its files: those that have findings, and, if the code of one is no longer in its file,
 * those that were changed since the newest review. Uses no model.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { OutcomeRecord } from "../domain/FindingOutcome.ts"
import type { FindingState } from "../domain/FindingState.ts"
import type { UnsettledFinding } from "../review/SettleFinding.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import type { AnalysisError } from "./AnalysisError.ts"
import { ChangeThreads } from "./ChangeThreads.ts"
import type { FileText, UnsettledFile } from "./work/SettleWork.ts"

/** Fields of the record of a finding that the decision needs. */
export type RecordedFinding = Pick<OutcomeRecord, "anchor" | "code" | "evidence" | "fingerprint" | "outcome" | "path">

const maxFileBytes = 1_048_576
/** Changed paths that are listed, and other files that are read. */
const maxPaths = 20_000
const maxOthers = 200
const maxEntries = 100_000
const threadMb = 512

const toUnsettled = ({ anchor, code, evidence, outcome }: RecordedFinding): UnsettledFinding => ({
  outcome,
  side: anchor?.side ?? "new",
  code,
  evidence
})

/** Reads a file of the end of the change, or of the newest review. */
const readFile = Effect.fnUntraced(function* (
  checkout: Checkout,
  path: string,
  at: "from" | "head"
): Effect.fn.Return<FileText, CheckoutError> {
  const text = yield* checkout.file(path, at, maxFileBytes)
  if (text !== undefined) return text
  const cut = path.lastIndexOf("/")
  const names = yield* checkout.list(cut < 0 ? "" : path.slice(0, cut), at, maxEntries)
  return names.includes(path.slice(cut + 1)) ? undefined : null
})

const extensionOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1)

/** Reads the other files that the code may have moved to: added ones and those of the same type first. */
const readOthers = Effect.fnUntraced(function* (
  checkout: Checkout,
  own: ReadonlyMap<string, unknown>
): Effect.fn.Return<ReadonlyArray<{ readonly isAdded: boolean; readonly text: string }>, CheckoutError> {
  const changes = yield* Effect.catchIf(
    checkout.changes(maxPaths),
    ({ reason }) => reason === "limit",
    () => Effect.succeed([])
  )
  const types = new Set([...own.keys()].map(extensionOf))
  const rank = (path: string, isAdded: boolean) => Number(types.has(extensionOf(path))) * 2 + Number(isAdded)
  const candidates = changes
    .filter(({ path, status }) => status !== "deleted" && !own.has(path))
    .map(({ path, status }) => ({ path, isAdded: status === "added", rank: rank(path, status === "added") }))
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, maxOthers)
  const texts = yield* Effect.forEach(candidates, ({ path }) => checkout.file(path, "head", maxFileBytes))
  return candidates.flatMap(({ isAdded }, at) => {
    const text = texts[at]
    return text === undefined ? [] : [{ isAdded, text }]
  })
})

/** Returns whether the code of the finding may be elsewhere: it was present before, and is not in its file. */
const isLost = (before: UnsettledFinding, after: FindingState | undefined): boolean =>
  after === "fixed" && before.outcome !== "fixed" && before.side === "new"

/**
 * Returns the state of each finding, in order; `open` does not tell whether it was merged. The checkout compares the newest reviewed head (`from`) with
 * the end of the change (`head`): the merged tree, or the last head of a change that was closed. `from: "before"`: the reviewed files no longer
 * exist, and the checkout compares with the files before the change.
 */
export const settleChange = Effect.fn("settleChange")(function* (
  checkout: Checkout,
  findings: ReadonlyArray<RecordedFinding>,
  from: "before" | "reviewed" = "reviewed"
): Effect.fn.Return<ReadonlyArray<FindingState>, AnalysisError | CheckoutError, ChangeThreads | Scope.Scope> {
  const byPath = Map.groupBy(
    findings.filter(({ outcome }) => outcome !== "dismissed" && outcome !== "withdrawn"),
    ({ path }) => path
  )
  const files: Array<UnsettledFile> = []
  for (const [path, some] of byPath) {
    const own = yield* readFile(checkout, path, "head")
    const hasFixed = some.some(({ outcome }) => outcome === "fixed")
    // Code of a finding that a review found to be fixed may be missing before the change, which is not its return.
    const isNeeded = from === "reviewed" ? own === null || hasFixed : own === null && !hasFixed
    const reviewed = isNeeded ? yield* readFile(checkout, path, "from") : undefined
    files.push({ own, reviewed, findings: some.map(toUnsettled) })
  }
  const thread = yield* (yield* ChangeThreads).open(threadMb)
  let states = yield* thread.run("settleFindings", files, [])
  const lost = files.flatMap((file, at) =>
    file.findings.some((finding, nth) => isLost(finding, states[at]?.[nth])) ? [at] : []
  )
  if (lost.length > 0) {
    const others = yield* readOthers(checkout, byPath)
    const again = yield* thread.run(
      "settleFindings",
      lost.flatMap((at) => files[at] ?? []),
      others
    )
    states = states.map((before, at) => again[lost.indexOf(at)] ?? before)
  }
  const known = new Map<string, FindingState>()
  for (const [at, [, some]] of [...byPath].entries())
    for (const [nth, { fingerprint }] of some.entries()) known.set(fingerprint, states[at]?.[nth] ?? "open")
  return findings.map(({ fingerprint, outcome }) => known.get(fingerprint) ?? outcome)
}, Effect.scoped)
