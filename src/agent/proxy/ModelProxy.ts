/**
 * Contract of the metering proxy, through which an agent CLI calls models. One proxy serves one pass. The agent gets a token of this pass
 * and never a key of a provider. Each call takes a permit of its provider, reserves its cost, and is settled with the usage in the response.
 */
import { Context } from "effect"
import type { Effect, Redacted, Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import type { Usage } from "../../domain/Analysis.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import type { WireFormat } from "../../llm/WireGateway.ts"
import type { AgentError } from "../Agent.ts"
import type { AwaitedTools } from "./AwaitTools.ts"

export type { WireFormat } from "../../llm/WireGateway.ts"

export interface ModelProxyRequest {
  readonly snapshot: Snapshot
  /** Name of a group in llm.model_chain. A model of the chain is replaced by the next one only before the first byte of a response. */
  readonly group: string
  readonly role: "light" | "heavy" | "any"
  /** API of the agent. A provider with the same API gets its bytes unchanged; for others, calls are translated both ways. */
  readonly format: WireFormat
  /** Maximum number of calls. A further one is refused in the form of errors of `format`. */
  readonly maxCalls: number
  /**
   * Whether web search tools that the provider runs may be called (`agent.web_search.enabled`). Other tools of providers' servers are
   * never passed on.
   */
  readonly webSearch: boolean
  /** Tools without which the agent must not call a model: on a busy machine not every agent waits for them. */
  readonly awaitedTools?: AwaitedTools | undefined
}

export interface ModelProxyReport {
  readonly usage: Usage
  /** `provider/model` of each model with a response, in order of first use. */
  readonly models: ReadonlyArray<string>
  /** Fallbacks and refusals. */
  readonly notices: ReadonlyArray<Reason>
  /** Reason why no further call was permitted: the budget or the number of calls. Problems reported until then are kept. */
  readonly stopped?: Reason | undefined
  /** Failure of the last call, if none succeeded after it. */
  readonly failure?: AgentError | undefined
}

export interface OpenModelProxy {
  /** Absolute path of the unix socket, for `SandboxRequest.sockets.model`. */
  readonly socket: string
  /** Token that the agent sends in place of the key of a provider. It is void when the scope closes. */
  readonly token: Redacted.Redacted
  /** Name of the model that the agent requests. The chain decides which model responds. */
  readonly model: string
  /** Smallest limits in tokens of the models in the chain, for the settings of the agent. Undefined if unknown. */
  readonly contextWindow: number | undefined
  readonly maxOutputTokens: number | undefined
  /** Returns the report so far. Calls that were aborted are counted with the usage that arrived before. */
  readonly report: Effect.Effect<ModelProxyReport>
}

export class ModelProxies extends Context.Service<
  ModelProxies,
  {
    /** Opens the proxy of one pass, which closes with the scope and aborts its calls. Fails with `failed` if the chain has no usable model. */
    readonly open: (request: ModelProxyRequest) => Effect.Effect<OpenModelProxy, AgentError, Scope.Scope | ModelRun>
  }
>()("aicr/agent/proxy/ModelProxies") {}
