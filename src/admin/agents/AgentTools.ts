/**
 * The tools for coding agents: what they take, return and do, and the scope that each needs. A token reaches the reviews of its repositories
 * only. No tool makes the holder of a token a person: none dismisses a finding, and an objection needs code that proves it.
 */
import { Effect, Schema } from "effect"
import type { McpTool } from "../../agent/McpEndpoint.ts"
import type { ConfigStore } from "../../config/ConfigStore.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import { isUnresolved } from "../../domain/FindingState.ts"
import { FindingJson, ReviewJson, toFindingJson } from "../../domain/ReviewJson.ts"
import type { TokenRights, TokenScope } from "../../domain/ServiceToken.ts"
import { summaryText } from "../../domain/SummaryText.ts"
import type { Operations } from "../../queue/operator/Operations.ts"
import type { QueueError } from "../../queue/Queue.ts"
import type { AdminActions } from "../../store/AdminActions.ts"
import type { Ledger } from "../../store/Ledger.ts"
import type { Outbox } from "../../store/Outbox.ts"
import type { Outcomes } from "../../store/Outcomes.ts"
import type { Receipts } from "../../store/Receipts.ts"
import type { Runs } from "../../store/Runs.ts"
import { inEnglish } from "../../text/en.ts"
import type { Unavailable } from "../api/Problems.ts"
import { listIssues } from "../http/RequestRules.ts"
import { AgentRefusal } from "./AgentRefusal.ts"
import { dispute, disputeFields, DisputeResult } from "./DisputeTool.ts"
import { openReview } from "./FindReviews.ts"
import { readStatus, ReviewStatus, waitForReview } from "./ReviewStatus.ts"
import type { FollowedFinding } from "./FollowFindings.ts"

const maxText = 512
const limited = (description: string) => Schema.String.annotate({ description }).check(Schema.isMaxLength(maxText))

const number = Schema.Int.annotate({ description: "Number of the pull request" }).check(Schema.isGreaterThan(0))
const change = {
  repository: limited("Full name of the repository, OWNER/NAME"),
  trigger: Schema.optionalKey(limited("Name of the trigger, if several hosts have a repository of this name")),
  number: Schema.optionalKey(number),
  head: Schema.optionalKey(
    Schema.String.annotate({
      description: "Commit, at least its first seven digits. Default: the newest reviewed one"
    }).check(Schema.isPattern(/^[0-9a-fA-F]{7,64}$/))
  )
}

/** Maximum duration of a call in seconds. Clients give up after 60. */
const maxWait = 45

const seconds = Schema.optionalKey(
  Schema.Int.annotate({ description: `Maximum duration of this call, 1 to ${maxWait}; default ${maxWait}` }).check(
    Schema.isBetween({ minimum: 1, maximum: maxWait })
  )
)

const WaitInput = Schema.Struct({ ...change, seconds })
const ListInput = Schema.Struct({
  ...change,
  state: Schema.optionalKey(
    Schema.Literals(["open", "all"]).annotate({ description: "open: those that count as problems (default)" })
  )
})
const finding = Schema.Int.annotate({ description: "Number of the finding, of list_findings" }).check(
  Schema.isGreaterThan(0)
)
const ExplainInput = Schema.Struct({ ...change, finding })
const DisputeInput = Schema.Struct({ ...change, number, finding, ...disputeFields, seconds })

const toJson = ({ finding: found, number: at, state, url }: FollowedFinding): FindingJson =>
  toFindingJson(found, { number: at, state, ...(url === undefined ? {} : { url }) })

const list = Effect.fnUntraced(function* ({ state, ...named }: typeof ListInput.Type, token: TokenRights) {
  const { analysis, findings, review } = yield* openReview(named, token)
  const shown = state === "all" ? findings : findings.filter((one) => isUnresolved(one.state))
  return {
    head: review.head,
    ...(review.partial ? { partial: true as const } : {}),
    ...(analysis.skipped === undefined ? {} : { skipped: inEnglish(analysis.skipped) }),
    findings: shown.map(toJson),
    summary: summaryText(analysis, inEnglish)
  } satisfies ReviewJson
})

const explain = Effect.fnUntraced(function* (
  { finding: wanted, ...named }: typeof ExplainInput.Type,
  token: TokenRights
) {
  const { findings } = yield* openReview(named, token)
  const found = findings.find((one) => one.number === wanted)
  return found === undefined
    ? yield* new AgentRefusal({ why: { _tag: "NoSuchFinding", number: wanted } })
    : toJson(found)
})

/** Names the invalid fields of an input, at most five. */
const describeIssues = ({ issue }: Schema.SchemaError): string =>
  listIssues(issue)
    .slice(0, 5)
    .map(({ path, reason }) => `${path === "" ? "input" : path}: ${inEnglish(reason)}`)
    .join("; ")

/** Records that the tools read and write. */
export type AgentRecords = AdminActions | ConfigStore | Ledger | Operations | Outbox | Outcomes | Receipts | Runs

/** `Unavailable`: as the administration responds while a store or the queue is. */
type AgentFailure = AgentRefusal | QueueError | StoreError | Unavailable

interface AgentTool {
  readonly description: string
  readonly isReadOnly: boolean
  /** JSON Schemas of what the tool takes and returns. */
  readonly input: McpTool["input"]
  readonly output: McpTool["output"]
  readonly call: (given: unknown, token: TokenRights) => Effect.Effect<unknown, AgentFailure, AgentRecords>
}

const toSchema = (schema: Schema.Constraint, options?: Schema.ToJsonSchemaOptions) =>
  Schema.toJsonSchemaDocument(schema, options).schema

const tool = <I, O>({
  description,
  input,
  output,
  run,
  scope
}: {
  readonly description: string
  readonly scope: TokenScope
  readonly input: Schema.Codec<I, unknown>
  readonly output: Schema.Codec<O, unknown>
  readonly run: (input: NoInfer<I>, token: TokenRights) => Effect.Effect<NoInfer<O>, AgentFailure, AgentRecords>
}): AgentTool => ({
  description,
  isReadOnly: scope === "read",
  // The inputs are structs.
  input: toSchema(input, { onExcessProperty: "error" }) as McpTool["input"],
  output: toSchema(output),
  call: Effect.fnUntraced(function* (given, token) {
    if (!token.scopes.includes(scope)) return yield* new AgentRefusal({ why: { _tag: "ScopeMissing", scope } })
    const decoded = yield* Effect.mapError(
      Schema.decodeUnknownEffect(input)(given, { errors: "all", onExcessProperty: "error" }),
      (error) => new AgentRefusal({ why: verbatimReason(describeIssues(error)) })
    )
    return yield* run(decoded, token)
  })
})

export const agentTools: Readonly<Record<string, AgentTool>> = {
  status: tool({
    description: "Returns the state of the review of a change, without waiting.",
    scope: "read",
    input: Schema.Struct(change),
    output: ReviewStatus,
    run: readStatus
  }),
  wait_for_review: tool({
    description:
      "Waits until the review of a change has ended, at most for a part of a minute. Call it again while `done` is false. After a push, name the new commit as `head`.",
    scope: "read",
    input: WaitInput,
    output: ReviewStatus,
    run: ({ seconds: wait = maxWait, ...named }, token) => waitForReview(named, token, wait)
  }),
  list_findings: tool({
    description: "Lists the findings of the newest review of a change, with their numbers and states.",
    scope: "read",
    input: ListInput,
    output: ReviewJson,
    run: list
  }),
  explain: tool({
    description: "Returns one finding with the code and the reason that it is based on.",
    scope: "read",
    input: ExplainInput,
    output: FindingJson,
    run: explain
  }),
  dispute: tool({
    description:
      "Objects to a finding that is wrong, with code at the head that proves it. Returns the decision; repeat the call while `decided` is false. There is one objection per finding and head.",
    scope: "dispute",
    input: DisputeInput,
    output: DisputeResult,
    run: ({ seconds: wait = maxWait, ...input }, token) => dispute(input, token, wait)
  })
}
