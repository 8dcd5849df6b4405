/** Reads `review.evidence` into the thread of the change. A file that is missing, too large or no SARIF costs only itself. */
import { Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import type { CiEvidence } from "../CiEvidence.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Reads a file that is not part of the reviewed revision, such as an output of the build. */
type ReadLocalFile = (path: string, maxBytes: number) => Effect.Effect<string | undefined, CheckoutError>

/** Sources of evidence that are not part of the reviewed revision. */
export interface OutsideEvidence {
  /** Reads outputs of the build, where the repository is on this machine. */
  readonly readLocal?: ReadLocalFile | undefined
  readonly ci?: CiEvidence | undefined
}

const maxFileBytes = 8 * 1_048_576

/** Returns notices. A local file takes precedence over the one at the reviewed revision. */
export const readEvidence = Effect.fn("readEvidence")(function* (
  change: ChangeThread,
  checkout: Checkout,
  { review }: Workspace,
  { ci, readLocal }: OutsideEvidence
): Effect.fn.Return<ReadonlyArray<Reason>, AnalysisError> {
  const notices: Array<Reason> = [...(ci?.notices ?? [])]
  for (const path of review.evidence.sarif ?? []) {
    const local = readLocal === undefined ? undefined : yield* orUndefined(readLocal(path, maxFileBytes))
    const text = local ?? (yield* orUndefined(checkout.file(path, "head", maxFileBytes)))
    if (text === undefined) {
      notices.push({ _tag: "SarifMissing", path })
    } else if ((yield* change.run("addEvidence", text)) === undefined) {
      notices.push({ _tag: "SarifInvalid", path })
    }
  }
  if (ci !== undefined) yield* change.run("addResults", ci.results)
  return notices
})

const orUndefined = <A>(effect: Effect.Effect<A | undefined, CheckoutError>): Effect.Effect<A | undefined> =>
  Effect.catch(effect, ({ message }) =>
    Effect.as(Effect.logWarning("evidence not read", { error: message }), undefined)
  )
