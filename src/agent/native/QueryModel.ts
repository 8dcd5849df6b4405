/**
 * Queries a model about a change: a conversation with the tools and the system text of an analysis that ends with a valid call of one
 * tool. Until then the model may read files, if the query permits it. Prose is never used; an invalid response is repaired once.
 */
import { Effect } from "effect"
import { addUsage, noUsage } from "../../domain/Analysis.ts"
import { Gateway, toUsage } from "../../llm/Gateway.ts"
import type { GatewayResponse, Message } from "../../llm/Gateway.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import { AgentError, toAgentError } from "../Agent.ts"
import type { AgentQuery, AgentQueryResult, Brief } from "../Agent.ts"
import { callMillis } from "./CallLimits.ts"
import { firstMessage } from "./Conversation.ts"
import { isReading, readOn } from "../ReadingTools.ts"
import { refusedResponse } from "../RefusedResponse.ts"
import { parseJson } from "../tools/Forms.ts"
import { repositoryReader } from "../tools/RepositoryReader.ts"
import { listToolSpecs, toolNames } from "../tools/Tools.ts"

/** Calls of one query, of which at most one is a repair. */
const maxSteps = 6

export const queryModel = Effect.fn("agent.query")(function* <A>(
  brief: Brief,
  query: AgentQuery<A>
): Effect.fn.Return<AgentQueryResult<A>, never, Gateway | ModelRun> {
  const { citesRules, snapshot, system, tools = [], workspace } = brief
  const responses: Array<GatewayResponse> = []
  const end = (outcome: AgentQueryResult<A>["outcome"]): AgentQueryResult<A> => ({
    outcome,
    models: [...new Set(responses.map(({ model }) => model))],
    usage: responses.map(toUsage).reduce(addUsage, noUsage)
  })
  const fail = (error: AgentError) => end({ _tag: "Failed", error })
  const group = workspace.modelChain
  if (group === undefined) return fail(new AgentError({ reason: "failed", why: { _tag: "NoModelGroups" } }))
  const gateway = yield* Gateway
  const reader = repositoryReader(brief.checkout, brief.code, workspace.review.fetch_extra, brief.context)
  let messages: ReadonlyArray<Message> = query.showsPrompt
    ? [firstMessage(brief, brief.prompt), { role: "user", text: query.text }]
    : [firstMessage(brief, query.text)]
  let repaired = false
  for (let step = 1; step <= maxSteps; step++) {
    const called = yield* Effect.result(
      gateway.call({
        snapshot,
        group,
        role: query.role,
        system,
        messages,
        tools: [...listToolSpecs(toolNames, citesRules), ...tools],
        toolChoice: "required",
        continues: query.mayRead && step < maxSteps,
        deadlineMillis: callMillis,
        prefer: responses.at(-1)?.model
      })
    )
    if (called._tag === "Failure") return fail(toAgentError(called.failure))
    const response = called.success
    responses.push(response)
    const inputs = response.calls.flatMap(({ name, input }) => (name === query.tool ? [parseJson(input)] : []))
    const value = inputs.length === 0 ? undefined : query.read(inputs)
    if (value !== undefined) return end({ _tag: "Returned", value, model: response.model })
    const reads = query.mayRead && isReading(response)
    if (!reads && repaired) return fail(invalid(query.tool))
    if (!reads) repaired = true
    messages = reads
      ? yield* readOn(messages, response, reader)
      : [
          ...messages,
          ...refusedResponse(response, query.tool, `Call ${query.tool} exactly once, with all of its fields.`)
        ]
  }
  return fail(invalid(query.tool))
})

const invalid = (tool: string): AgentError => new AgentError({ reason: "failed", why: { _tag: "NoValidCall", tool } })
