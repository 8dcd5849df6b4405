/** Decides on the result of a pass of an agent CLI, from what it reported, its model calls, and how it ended. Pure. */
import type { Reason } from "../../domain/Reason.ts"
import type { Unusable } from "../../domain/Coverage.ts"
import type { ReportedProblem } from "../../domain/Problem.ts"
import type { SandboxExit } from "../../sandbox/Sandbox.ts"
import { AgentError } from "../Agent.ts"
import type { AgentReport } from "../Agent.ts"
import type { ModelProxyReport } from "../proxy/ModelProxy.ts"
import { maxReported } from "../tools/Reports.ts"
import type { Chosen } from "../tools/Tool.ts"
import type { Spent } from "./PassSession.ts"

/** Reason for the end of a pass: the program exited, or it was ended because of a failure or because it had nothing left to do. */
export type PassEnding =
  | { readonly _tag: "Exited"; readonly exit: SandboxExit }
  | { readonly _tag: "Ended"; readonly error: AgentError | undefined }

interface PassFacts {
  readonly mode: string
  readonly problems: ReadonlyArray<ReportedProblem>
  readonly dropped: number
  readonly unusable: ReadonlyArray<Unusable>
  readonly end: Chosen | undefined
  readonly proxy: Pick<ModelProxyReport, "notices" | "stopped" | "failure">
  /** Includes earlier attempts. */
  readonly spent: Spent
  readonly ending: PassEnding
  readonly toolCalls: number
  /** Last failure in the output of the program, and the end of its stderr. Untrusted. */
  readonly printed: { readonly error: string | undefined; readonly stderr: string }
  readonly notices: ReadonlyArray<Reason>
}

const maxDetail = 500

/** Shortens text of the program to one line without control characters. */
export const toDetail = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .trim()
    .slice(-maxDetail)

const exitError = ({ mode, printed, toolCalls }: PassFacts, exit: SandboxExit): AgentError => {
  if (exit.reason !== "exited") {
    const isTransient = exit.reason === "engine" || exit.reason === "cancelled"
    return new AgentError({
      reason: exit.reason === "time" ? "timeout" : isTransient ? "retryable" : "failed",
      why: { _tag: "AgentFailed", mode, reason: exit.why }
    })
  }
  const output = toDetail(printed.error ?? printed.stderr)
  return new AgentError({
    // A program that fails may work the next time. One that ends regularly without a result would do the same again.
    reason: exit.code === 0 && printed.error === undefined ? "failed" : "retryable",
    why: {
      _tag: "AgentExited",
      mode,
      code: exit.code,
      reason: { _tag: toolCalls === 0 ? "NoToolCall" : "NoSummaryAccepted" },
      ...(output === "" ? {} : { output })
    }
  })
}

/** Returns why the pass has no end of its own. */
const failureOf = (facts: PassFacts): AgentError => {
  const { ending, proxy } = facts
  if (proxy.failure !== undefined) return proxy.failure
  if (ending._tag === "Exited") return exitError(facts, ending.exit)
  return (
    ending.error ??
    new AgentError({
      reason: "failed",
      why: { _tag: "AgentFailed", mode: facts.mode, reason: { _tag: "PassWithoutResult" } }
    })
  )
}

/** Result of a pass that the model ended, or that ended with problems. */
export const toReport = ({
  dropped,
  end,
  notices,
  problems,
  spent,
  unusable
}: Pick<PassFacts, "dropped" | "end" | "notices" | "problems" | "spent" | "unusable">): AgentReport => ({
  ...spent,
  problems,
  notices: dropped === 0 ? notices : [...notices, { _tag: "ProblemsBeyondLimit", count: dropped, limit: maxReported }],
  summary: end?._tag === "Summary" ? end.markdown : undefined,
  // Reported problems take precedence over a later request to skip.
  skipped: end?._tag === "Skip" && problems.length === 0 ? end.reason : undefined,
  ...(unusable.length === 0 ? {} : { unusable })
})

export const decideOutcome = (facts: PassFacts): AgentReport | AgentError => {
  const { end, problems, proxy } = facts
  // The notices of the proxy have the reason for which it stopped.
  const report = toReport({ ...facts, notices: [...facts.notices, ...proxy.notices] })
  if (end !== undefined) return report
  if (proxy.stopped !== undefined) return { ...report, stopped: proxy.stopped }
  const failure = failureOf(facts)
  return problems.length === 0 ? failure : { ...report, failure }
}
