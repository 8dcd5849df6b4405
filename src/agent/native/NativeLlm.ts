/**
 * The native agent: a loop of model calls that acts only on tool calls. Prose never becomes a review.
 *
 * ```
 * call ──tool calls──▶ handle each ──▶ summary or skip, nothing to repair ──▶ done
 *  ▲               │  └── unknown tool or invalid input: corrected once ──▶ call
 *  │               └── problems, context, blame ──▶ call
 *  └──prose──▶ corrected once ──▶ call;  again ──▶ problems exist: kept, the pass failed │ none: next model of the chain, from the start
 * ```
 * A report that stays refused is counted (`unusable`): the pass then did not read its files in full.
 * Limits: steps and tokens per pass, time per call; problems (Reports.ts); extra context (ContextAllowance.ts). Reports are recorded
 * while a response streams in.
 */
import { Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { distinctReasons, verbatimReason } from "../../domain/Reason.ts"
import { addUsage, noUsage } from "../../domain/Analysis.ts"
import type { Usage } from "../../domain/Analysis.ts"
import { afterFailures, Gateway, joinFailures, toUsage } from "../../llm/Gateway.ts"
import type { GatewayResponse, GatewayError, Message } from "../../llm/Gateway.ts"
import { AgentError, toAgentError } from "../Agent.ts"
import type { AgentReport, Brief } from "../Agent.ts"
import { callMillis } from "./CallLimits.ts"
import { firstMessage, pruneResults } from "./Conversation.ts"
import { maxReported, Reports } from "../tools/Reports.ts"
import { repositoryReader } from "../tools/RepositoryReader.ts"
import type { Chosen } from "../tools/Tool.ts"
import { listToolSpecs, toolNames } from "../tools/Tools.ts"
import { handle, StreamedReports } from "./Turn.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"

export interface PassLimits {
  readonly steps: number
  /** Input and output of all calls of the pass. */
  readonly tokens: number
  /** Duration of one call with its retries, without the time that it waits for permits. */
  readonly millis: number
}

export const passLimits: PassLimits = { steps: 24, tokens: 2_000_000, millis: callMillis }

interface Pass {
  /** Reports of the last conversation that was begun. */
  reports: Reports
  readonly models: Array<string>
  readonly notices: Array<Reason>
  /** Models without valid tool calls, and their last responses. */
  readonly avoided: Map<string, UnusableResponse>
  usage: Usage
}

/** A response without a call that could be used. */
interface UnusableResponse {
  readonly kind: "prose" | "empty" | "calls"
  readonly why: Reason
}

/** Result of one conversation with one model. */
type Ending =
  | Chosen
  | { readonly _tag: "Stopped"; readonly why: Reason }
  /** The budget is exhausted: problems are kept, and the remaining files are reported as not read. */
  | { readonly _tag: "OutOfBudget"; readonly why: Reason }
  /** Responses were cut at their limit of output tokens: what they reported is kept. */
  | { readonly _tag: "CutOff"; readonly why: Reason }
  | { readonly _tag: "Failed"; readonly error: AgentError }
  | { readonly _tag: "Invalid"; readonly model: string; readonly response: UnusableResponse }

export const analyseNatively = (limits: PassLimits) =>
  Effect.fn("agent.native")(function* (brief: Brief): Effect.fn.Return<AgentReport, AgentError, Gateway | ModelRun> {
    const group = brief.workspace.modelChain
    if (group === undefined) {
      return yield* failed({ _tag: "NoModelGroups" })
    }
    const pass: Pass = {
      reports: new Reports(),
      models: [],
      notices: [],
      avoided: new Map(),
      usage: noUsage
    }
    while (true) {
      const ending = yield* converse(brief, group, pass, limits)
      if (ending._tag === "Invalid" && pass.reports.count === 0) {
        pass.avoided.set(ending.model, ending.response)
        const chain = brief.snapshot.document.llm.model_chain[group] ?? []
        if (chain.every(({ model, provider }) => pass.avoided.has(`${provider}/${model}`)))
          return yield* withoutCalls(pass.avoided)
        pass.notices.push({ _tag: "FellBackWithoutCalls", model: ending.model })
        // The next model reads everything again.
        pass.reports = new Reports()
        continue
      }
      return yield* toReport(pass, ending)
    }
  })

/** The next step of an operator, by the kind of the responses. */
const toolAdvice: Readonly<Record<UnusableResponse["kind"], Reason>> = {
  prose: { _tag: "EnableToolCalls" },
  empty: { _tag: "CheckOutputLimit" },
  calls: { _tag: "ChooseStrongerModel" }
}

const describeAvoided = (avoided: Pass["avoided"]): ReadonlyArray<Reason> =>
  [...avoided].map(([model, { why }]) => ({ _tag: "ModelFailed", model, reason: why }))

const withoutCalls = (avoided: Pass["avoided"]): AgentError => {
  const kinds = new Set([...avoided.values()].map(({ kind }) => kind))
  return failed(joinFailures([...describeAvoided(avoided), ...[...kinds].map((kind) => toolAdvice[kind])]))
}

/** Returns why the model did not end its review. */
const unendedReason = (ending: Ending): Reason | undefined => {
  if (ending._tag === "Stopped") return ending.why
  if (ending._tag === "Invalid") return ending.response.why
  return undefined
}

const toReport = (pass: Pass, ending: Ending): Effect.Effect<AgentReport, AgentError> => {
  const { models, reports, usage } = pass
  const { dropped, problems, unusable } = reports.kept
  const notices = [...pass.notices]
  if (dropped > 0) notices.push({ _tag: "ProblemsBeyondLimit", count: dropped, limit: maxReported })
  const unended = unendedReason(ending)
  if (unended !== undefined) {
    if (problems.length === 0) return failed({ _tag: "NoResult", reason: unended })
    notices.push({ _tag: "EndedWithoutSummary", reason: unended })
  }
  if (ending._tag === "Failed" && problems.length === 0) return ending.error
  if (ending._tag === "OutOfBudget") notices.push({ _tag: "BudgetEndedReview" })
  if (ending._tag === "CutOff") notices.push(ending.why)
  const failure =
    ending._tag === "Failed"
      ? ending.error
      : unended === undefined
        ? undefined
        : failed({ _tag: "NoSummary", reason: unended })
  return Effect.succeed({
    problems,
    ...(ending._tag === "OutOfBudget" || ending._tag === "CutOff" ? { stopped: ending.why } : {}),
    ...(ending._tag === "CutOff" ? { isCutOff: true } : {}),
    ...(failure === undefined ? {} : { failure }),
    ...(unusable.length === 0 ? {} : { unusable }),
    summary: ending._tag === "Summary" ? ending.markdown : undefined,
    // Reported problems take precedence over a later request to skip.
    skipped: ending._tag === "Skip" && problems.length === 0 ? ending.reason : undefined,
    models,
    usage,
    notices: distinctReasons(notices)
  })
}

const converse = Effect.fnUntraced(function* (
  brief: Brief,
  group: string,
  pass: Pass,
  limits: PassLimits
): Effect.fn.Return<Ending, never, Gateway | ModelRun> {
  const reader = repositoryReader(brief.checkout, brief.code, brief.workspace.review.fetch_extra, brief.context)
  const context = { reports: pass.reports, reader, maySkip: brief.maySkip === true }
  const streamed = new StreamedReports(context)
  let messages: ReadonlyArray<Message> = [
    firstMessage(brief, brief.advice === undefined ? brief.prompt : `${brief.prompt}\n\n${brief.advice}`)
  ]
  let holder: string | undefined
  let repaired = false
  let cuts = 0
  // A summary next to invalid reports is accepted after the model had its one chance to repair them.
  let pending: Chosen | undefined
  for (let step = 1; step <= limits.steps; step++) {
    pass.reports.round = step
    const called = yield* callStep(brief, group, pass, limits, streamed, { messages, prefer: holder, step })
    if (called._tag === "Failure") {
      if (called.failure.reason === "budget") return { _tag: "OutOfBudget", why: called.failure.why }
      return { _tag: "Failed", error: afterAvoided(called.failure, pass.avoided) }
    }
    const response = called.success
    holder = response.model
    account(pass, response)
    if (brief.workspace.review.log_thinking) yield* logStep(step, response)

    const turn = yield* handle(response, context, streamed)
    const isCut = response.isCutOff === true && turn.ending === undefined
    // The model is not at fault for the end of a response that the limit cut.
    const broken = !isCut && (response.calls.length === 0 || turn.invalid.length > 0)
    const ending = turn.ending ?? pending
    if (ending !== undefined && (pending !== undefined || !broken || repaired)) return ending
    if (isCut && ++cuts > 1) return { _tag: "CutOff", why: { _tag: "ResponsesCut" } }
    if (broken && repaired && !turn.isUseful)
      return { _tag: "Invalid", model: response.model, response: unusableResponse(response, turn.invalid) }
    pending = ending
    if (broken) repaired = true
    if (pass.usage.inputTokens + pass.usage.outputTokens >= limits.tokens) {
      return { _tag: "Stopped", why: { _tag: "TokensUsedUp", count: limits.tokens } }
    }
    messages = pruneResults([...messages, ...turn.messages, ...(isCut ? [goOn] : [])])
  }
  return { _tag: "Stopped", why: { _tag: "StepsUsedUp", count: limits.steps } }
})

const unusableResponse = ({ calls, text }: GatewayResponse, [error]: ReadonlyArray<string>): UnusableResponse => {
  if (calls.length > 0)
    return { kind: "calls", why: error === undefined ? { _tag: "CallsUnusable" } : verbatimReason(error) }
  return text.trim() === ""
    ? { kind: "empty", why: { _tag: "ResponseEmpty" } }
    : { kind: "prose", why: { _tag: "ResponseProse" } }
}

/** Names the models that sent no valid tool calls before, with the reasons. */
const afterAvoided = (error: GatewayError, avoided: Pass["avoided"]): AgentError =>
  toAgentError(afterFailures(describeAvoided(avoided), error))

/** Position of a call in its conversation. */
interface CallPosition {
  readonly messages: ReadonlyArray<Message>
  /** Model of the conversation. */
  readonly prefer: string | undefined
  readonly step: number
}

/** Calls the model once. Reports are recorded as soon as they are complete. */
const callStep = Effect.fnUntraced(function* (
  { citesRules, onBegin, snapshot, system, tools = [] }: Brief,
  group: string,
  { avoided }: Pass,
  limits: PassLimits,
  streamed: StreamedReports,
  { messages, prefer, step }: CallPosition
) {
  const gateway = yield* Gateway
  return yield* Effect.result(
    gateway.call({
      snapshot,
      group,
      role: "heavy",
      system,
      messages,
      tools: [...listToolSpecs(toolNames, citesRules), ...tools],
      toolChoice: "required",
      continues: step < limits.steps,
      onBegin,
      onToolCall: (call) => streamed.record(call),
      deadlineMillis: limits.millis,
      prefer,
      avoid: [...avoided.keys()]
    })
  )
})

const goOn: Message = {
  role: "user",
  text: "Your response was cut at its limit of output tokens. The complete reports in it are recorded. Go on: report what is missing, in few words, and end with publish_summary."
}

const account = (pass: Pass, response: GatewayResponse): void => {
  if (!pass.models.includes(response.model)) pass.models.push(response.model)
  // Notices are published, so they contain only the class of a failure; the provider's message is only logged.
  for (const { model, reason } of response.fallbacks) {
    pass.notices.push({ _tag: "FellBack", model, kind: reason })
  }
  pass.usage = addUsage(pass.usage, toUsage(response))
}

const logStep = (step: number, response: GatewayResponse) =>
  Effect.logInfo("agent step").pipe(
    Effect.annotateLogs({
      step,
      model: response.model,
      calls: response.calls.slice(0, 50).map(({ name }) => name),
      text: response.text.slice(0, 2_000)
    })
  )

const failed = (why: Reason): AgentError => new AgentError({ reason: "failed", why })
