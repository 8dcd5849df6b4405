/**
 * Contract of an agent, which converts a brief to reported problems. `native-llm` calls the model gateway; CLI agents run a
 * program in a sandbox. Each mode is a row of one table, so that the engine is independent of the mode.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { Unusable } from "../domain/Coverage.ts"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import type { ReportedProblem } from "../domain/Problem.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import { gatewayAdvice, joinFailures } from "../llm/Gateway.ts"
import type { GatewayError, GatewayFailure, ToolSpec } from "../llm/Gateway.ts"
import type { MountedContext } from "../vcs/ContextRepositories.ts"
import type { Usage } from "../domain/Analysis.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import type { CodeSearch } from "./CodeSearch.ts"

/** One pass over one chunk of the diff. */
export interface Brief {
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly system: string
  /** The change as data, as far as all passes of a review have it in common: title, description, names of files. */
  readonly common?: string | undefined
  /** The part of the change that this pass reads: files, numbered diff. */
  readonly prompt: string
  /** Notes for the analysis alone, after the prompt. */
  readonly advice?: string | undefined
  /** Runs when the first response begins: from then on the provider has cached the prompt. */
  readonly onBegin?: Effect.Effect<void> | undefined
  /** Receives what an agent CLI has done so far, for people who wait. */
  readonly onProgress?: ((progress: PassProgress) => Effect.Effect<void>) | undefined
  /** Tools of queries of the review. They are offered in every call, so that all calls have the same beginning. */
  readonly tools?: ReadonlyArray<ToolSpec> | undefined
  /** Whether the prompt has rules with an id, which a report cites. Default: false. */
  readonly citesRules?: boolean | undefined
  readonly checkout: Checkout
  /** Whether the pass shows nothing that can be reviewed, so that `skip` is accepted. Default: false. */
  readonly maySkip?: boolean | undefined
  /** Searches in the checkout and in further repositories. */
  readonly code: CodeSearch
  /** Further repositories, read as `alias:path`. */
  readonly context?: ReadonlyArray<MountedContext> | undefined
}

/** Progress of an agent CLI in one pass. */
export interface PassProgress {
  readonly mode: string
  readonly toolCalls: number
  readonly problems: number
  readonly usage: Usage
}

export interface AgentReport {
  readonly problems: ReadonlyArray<ReportedProblem>
  readonly summary: string | undefined
  readonly skipped: string | undefined
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
  readonly notices: ReadonlyArray<Reason>
  /** Reason why the pass ended early; its problems until then are kept. Absent: everything was read. */
  readonly stopped?: Reason | undefined
  /** True if it ended early because responses were cut at their limit of output tokens; otherwise the budget ended it. */
  readonly isCutOff?: boolean | undefined
  /** Reports and readings that could not be used. Absent: everything could. */
  readonly unusable?: ReadonlyArray<Unusable> | undefined
  /** Failure after the problems were reported. */
  readonly failure?: AgentError | undefined
}

/** A question about a change with one valid form of response: a call of one tool. */
export interface AgentQuery<A> {
  readonly text: string
  /** Whether the prompt of the brief is sent before the text. */
  readonly showsPrompt: boolean
  readonly role: "light" | "heavy" | "any"
  readonly tool: string
  /** Whether the model may read files before it responds. */
  readonly mayRead: boolean
  /** Decodes the inputs of the tool in one response, at least one; undefined if they are invalid. */
  readonly read: (inputs: ReadonlyArray<unknown>) => A | undefined
}

export interface AgentQueryResult<A> {
  readonly outcome:
    | { readonly _tag: "Returned"; readonly value: A; readonly model: string }
    | { readonly _tag: "Failed"; readonly error: AgentError }
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
}

export class AgentError extends Schema.TaggedError<AgentError>()("AgentError", {
  /**
   * `throttled`: the provider refused all requests for long; `unreachable`: its server did not respond. Both cost a review no attempt.
   * `retryable` is another transient failure; `failed` is permanent; `timeout` exhausted its time.
   */
  reason: Schema.Literals(["throttled", "unreachable", "retryable", "failed", "timeout"]),
  why: Reason,
  retryAfterMillis: Schema.optional(Schema.Int)
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

const agentReasons: Record<GatewayError["reason"], AgentError["reason"]> = {
  rate_limited: "throttled",
  unavailable: "retryable",
  timeout: "retryable",
  not_configured: "failed",
  unauthorized: "failed",
  overflow: "failed",
  refused: "failed",
  invalid: "failed",
  budget: "failed",
  unpriced: "failed"
}

/**
 * Returns what a failed call of a model means for its caller: whether it waits for the provider, tries again, or fails. Except for
 * waiting, it names the next step of an operator.
 */
export const toAgentError = ({ advice, isOutage, reason, retryAfterMillis, why }: GatewayFailure): AgentError =>
  new AgentError({
    reason: reason === "unavailable" && isOutage === true ? "unreachable" : agentReasons[reason],
    why: agentReasons[reason] === "throttled" ? why : joinFailures([why, advice ?? gatewayAdvice[reason]]),
    ...(retryAfterMillis === undefined ? {} : { retryAfterMillis })
  })

/** Whether the caller waits for the provider: the calls without a response are made later. */
export const waitsForProvider = ({ reason }: AgentError): boolean => reason === "throttled" || reason === "unreachable"

export class Agent extends Context.Service<
  Agent,
  {
    readonly analyse: (brief: Brief) => Effect.Effect<AgentReport, AgentError, ModelRun>
    /** Queries a model about the change, with the same beginning as `analyse`. An invalid response is repaired once. */
    readonly query: <A>(brief: Brief, query: AgentQuery<A>) => Effect.Effect<AgentQueryResult<A>, never, ModelRun>
  }
>()("aicr/agent/Agent") {}
