/** Engine tests: a real repository and checkout, a real snapshot, and an agent with scripted results. */
import { Effect, Layer } from "effect"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { Usd } from "../../src/domain/Money.ts"
import { Agent, AgentError } from "../../src/agent/Agent.ts"
import { queryModel } from "../../src/agent/native/QueryModel.ts"
import type { AgentReport, Brief } from "../../src/agent/Agent.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { Catalog } from "../../src/llm/Catalog.ts"
import { Gateway, GatewayError } from "../../src/llm/Gateway.ts"
import type { GatewayResponse, GatewayRequest } from "../../src/llm/Gateway.ts"
import { noUsage } from "../../src/domain/Analysis.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import type { Lesson } from "../../src/domain/Lesson.ts"
import type { ContextMounts } from "../../src/engine/read/ContextMounts.ts"
import { reviewChange } from "../../src/engine/ReviewChange.ts"
import type { ReviewInput } from "../../src/engine/ReviewChange.ts"
import { ChangeThreads } from "../../src/engine/ChangeThreads.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import type { Checkout } from "../../src/vcs/Checkout.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import type { Repository } from "../vcs/Repository.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { testOwners } from "../harness/Owners.ts"
import { testThreads } from "../harness/Threads.ts"

export const emptyReport: AgentReport = {
  problems: [],
  summary: undefined,
  skipped: undefined,
  models: ["test/model"],
  usage: { requests: 1, inputTokens: 10, outputTokens: 1, cachedTokens: 0, costUsd: Usd.make(0.5) },
  notices: []
}

const unavailable = new GatewayError({
  reason: "unavailable",
  why: verbatimReason("this test's gateway answers nothing")
})

/** A gateway whose calls all fail. */
export const silentGateway = Layer.succeed(Gateway, Gateway.of({ call: () => Effect.fail(unavailable) }))

/** Queries of an agent that all fail. */
export const silentQuery: Agent["Service"]["query"] = () =>
  Effect.succeed({
    outcome: { _tag: "Failed", error: new AgentError({ reason: "failed", why: verbatimReason(unavailable.message) }) },
    models: [],
    usage: noUsage
  })

/** A response with one tool call. */
export const calling = (name: string, input: unknown): GatewayResponse => ({
  model: "test/second",
  text: "",
  calls: [{ id: "1", name, input }],
  usage: {
    inputTokens: 7,
    outputTokens: 3,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    costUsd: Usd.make(0.25)
  },
  native: undefined,
  fallbacks: []
})

export interface EngineRun {
  readonly analysis: Analysis
  readonly briefs: ReadonlyArray<Brief>
  /** Model requests outside of the agent. */
  readonly calls: ReadonlyArray<GatewayRequest>
}

export interface EngineOptions {
  readonly repository: Repository
  readonly base: string
  readonly head: string
  /** The commit that rules are read from, where it is not the base. */
  readonly rules?: string
  readonly review?: Record<string, unknown>
  readonly document?: Record<string, unknown>
  readonly filters?: Partial<ReviewInput["filters"]>
  readonly agent?: (brief: Brief, call: number) => Effect.Effect<AgentReport, AgentError>
  /** Responds to model requests outside of the agent; without it they fail. */
  readonly gateway?: (request: GatewayRequest, call: number) => Effect.Effect<GatewayResponse, GatewayError>
  readonly title?: string
  readonly description?: string
  readonly issues?: ReviewInput["issues"]
  readonly readLocal?: ReviewInput["readLocal"]
  readonly ci?: ReviewInput["ci"]
  readonly compare?: "merge-base" | "endpoints"
  readonly previous?: Analysis | undefined
  readonly round?: ReviewInput["round"]
  readonly ruleHealth?: ReviewInput["ruleHealth"]
  readonly lessons?: ReadonlyArray<Lesson>
  readonly acceptance?: ReviewInput["acceptance"]
  readonly context?: ContextMounts
  readonly threads?: ChangeThreads["Service"]
  /** Wraps the checkout. */
  readonly wrap?: (checkout: Checkout) => Checkout
  readonly isLastAttempt?: boolean
}

const roots = new Map<string, string>()

/** Returns the folder of mirrors of a repository: it is cloned once, as in a service. */
const rootOf = ({ path }: Repository): string => {
  const root = roots.get(path) ?? temporaryFolder()
  roots.set(path, root)
  return root
}

export const runEngine = (options: EngineOptions): Promise<EngineRun> => {
  const briefs: Array<Brief> = []
  const calls: Array<GatewayRequest> = []
  const gateway = Layer.succeed(
    Gateway,
    Gateway.of({
      call: (request) => {
        calls.push(request)
        return options.gateway?.(request, calls.length) ?? Effect.fail(unavailable)
      }
    })
  )
  const agent = Layer.succeed(
    Agent,
    Agent.of({
      analyse: (brief) => {
        briefs.push({
          ...brief,
          prompt: [brief.common, brief.prompt, brief.advice].filter((part) => part !== undefined).join("\n\n")
        })
        return options.agent?.(brief, briefs.length) ?? Effect.succeed(emptyReport)
      },
      query: (brief, query) => Effect.provide(queryModel(brief, query), gateway)
    })
  )
  return Effect.gen(function* () {
    const snapshot = yield* toSnapshot(
      {
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:1", api_key: "k" }],
          model_chain: { default: [{ provider: "p", model: "m" }] }
        },
        triggers: [{ name: "t", kind: "manual" }],
        workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" } } } },
        review: { output_language: "en", verification: "off", ...options.review },
        ...options.document
      },
      {}
    )
    const workspace = snapshot.workspaces.get("w")
    if (workspace === undefined) return yield* Effect.die("no workspace")
    const vcs = yield* Vcs
    const checkout = yield* vcs.checkout({
      url: options.repository.path,
      mirror: "test",
      authorization: undefined,
      head: options.head,
      base: options.base,
      headRef: undefined,
      baseRef: undefined,
      compare: options.compare ?? "merge-base",
      rules: { commit: options.rules ?? options.base, ref: undefined },
      headOnly: workspace.review.commit_strategy === "head_only"
    })
    const filters = { watchPath: [], include: [], exclude: [], ...options.filters }
    const analysis = yield* reviewChange({
      snapshot,
      workspace,
      checkout: options.wrap?.(checkout) ?? checkout,
      title: options.title ?? "A change",
      description: options.description,
      issues: options.issues,
      readLocal: options.readLocal,
      ci: options.ci,
      previous: options.previous,
      round: options.round,
      ruleHealth: options.ruleHealth,
      lessons: options.lessons,
      acceptance: options.acceptance,
      isLastAttempt: options.isLastAttempt,
      ...(options.context === undefined ? {} : { context: Effect.succeed(options.context) }),
      filters
    })
    return { analysis, briefs, calls }
  }).pipe(
    Effect.scoped,
    Effect.provide([
      layerGit({ root: rootOf(options.repository), limits: () => localLimits, allowLocal: true }),
      agent,
      gateway,
      Catalog.layerOffline,
      testOwners,
      options.threads === undefined ? testThreads : Layer.succeed(ChangeThreads, options.threads)
    ]),
    Effect.runPromise
  )
}
