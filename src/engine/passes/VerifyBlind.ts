/**
 * Verification without what the author writes: findings of blind passes, and those of others with a high or critical one among them, are checked with the code alone
 * (read/ReadBlind.ts). Only where that decides nothing about a serious finding is it checked again with everything that the author writes: what is
 * refuted only then is kept, with a note.
 */
import { Effect } from "effect"
import type { Agent } from "../../agent/Agent.ts"
import { isSevere } from "../../domain/Kinds.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import type { CheckoutError } from "../../vcs/Checkout.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { PassPlan, PlannedPass } from "../plan/PlanPasses.ts"
import { readBlind } from "../read/ReadBlind.ts"
import { joinVerified, verifyFindings } from "./Verify.ts"
import type { Verified, VerifyContext } from "./Verify.ts"

/** Verifies findings, of a pass if it is given. */
export const verifyBlind = Effect.fn("verifyBlind")(function* (
  context: VerifyContext,
  { blindly, brief }: PassPlan,
  pass: PlannedPass | undefined,
  findings: ReadonlyArray<Finding>
): Effect.fn.Return<Verified, AnalysisError | CheckoutError, Agent | ModelRun> {
  const own = pass === undefined ? brief : yield* pass.brief
  if (blindly === undefined) return yield* verifyFindings(context, own, findings)
  const isBlind = pass?.isBlind === true
  // One call is made for all of them, so the others are checked like the serious ones.
  const wanted = isBlind || findings.some(({ problem }) => isSevere(problem.severity)) ? findings : []
  const prepared = yield* readBlind(context.change, context.checkout, [...new Set(wanted.map(pathOf))])
  const hidden = new Set(wanted.filter((finding) => prepared.has(pathOf(finding))))
  const first = yield* verifyFindings(
    { change: context.change, checkout: blindly.checkout, fence: blindly.fence, isBlind: true },
    isBlind ? own : blindly.brief,
    [...hidden]
  )
  const undecided = [...hidden].filter(
    ({ fingerprint, problem }) =>
      isSevere(problem.severity) && first.verdicts.get(fingerprint)?.verdict.verdict === "undecided"
  )
  const explained = yield* verifyFindings(context, brief, undecided)
  const others = yield* verifyFindings(
    context,
    isBlind ? brief : own,
    findings.filter((finding) => !hidden.has(finding))
  )
  return joinVerified([
    first,
    {
      ...explained,
      verdicts: new Map([...explained.verdicts].map(([key, one]) => [key, { ...one, isExplained: true }]))
    },
    others
  ])
})

const pathOf = ({ anchor, problem }: Finding): string => anchor?.path ?? problem.file
