/** Opens the model proxies of passes, each on a socket of its own. */
import { Effect, Layer } from "effect"
import { WireGateway } from "../../llm/WireGateway.ts"
import { wireFormat } from "../../llm/WireFormats.ts"
import type { WireFailureKind } from "../../llm/WireRow.ts"
import { toAgentError } from "../Agent.ts"
import { openPassServer, sweepPassServers } from "../socket/PassServer.ts"
import type { PassRefusal } from "../socket/PassServer.ts"
import { newPassToken } from "../socket/PassToken.ts"
import { ModelProxies } from "./ModelProxy.ts"
import type { ModelProxyRequest, OpenModelProxy } from "./ModelProxy.ts"
import { CallRecord } from "./CallRecord.ts"
import { ProxyCalls } from "./ProxyCalls.ts"
import type { Reason } from "../../domain/Reason.ts"
import { inEnglish } from "../../text/en.ts"

/** A prompt of a million tokens has about 4 MB. */
const maxBodyBytes = 32 * 1024 * 1024
const maxConcurrent = 8

const refusals: Record<PassRefusal, readonly [kind: WireFailureKind, why: Reason]> = {
  unauthorized: ["unauthorized_agent", { _tag: "TokenInvalid" }],
  too_large: ["too_large", { _tag: "RequestTooLarge", limit: maxBodyBytes }],
  busy: ["busy", { _tag: "ProxyBusy", limit: maxConcurrent }],
  unsupported_encoding: ["invalid", { _tag: "ContentEncoded" }],
  failed: ["unavailable", { _tag: "ProxyFailed" }]
}

/** Name of the model for the agent: that of the first model, so that agents with settings for it use them. */
const toName = (model: string): string => model.slice(model.indexOf("/") + 1)

const open = (root: string) =>
  Effect.fn("agent.models")(function* (request: ModelProxyRequest) {
    const gateway = yield* WireGateway
    const { contextWindow, maxOutputTokens, models } = yield* Effect.mapError(gateway.models(request), toAgentError)
    const name = toName(models[0] ?? "model")
    const record = new CallRecord()
    const calls = new ProxyCalls(request, record, { name, contextWindow, maxOutputTokens })
    const token = newPassToken()
    const socket = yield* openPassServer(
      {
        root,
        name: "model.sock",
        token,
        maxBodyBytes,
        maxConcurrent,
        refuse: (reason) => wireFormat(request.format).error(refusals[reason][0], inEnglish(refusals[reason][1])),
        onRefused: (reason) => {
          if (reason !== "busy") record.note({ _tag: "AgentRequestRefused", reason: refusals[reason][1] })
        }
      },
      (exchange) => calls.handle(exchange)
    )
    const proxy: OpenModelProxy = {
      socket,
      token,
      model: name,
      contextWindow,
      maxOutputTokens,
      report: Effect.sync(() => calls.report)
    }
    return proxy
  })

/** `root` is a folder of this node alone. */
export const modelProxiesLayer = (root: string): Layer.Layer<ModelProxies, never, WireGateway> =>
  Layer.effect(
    ModelProxies,
    Effect.gen(function* () {
      const gateway = yield* WireGateway
      yield* sweepPassServers(root)
      return ModelProxies.of({
        open: (request) => Effect.provideService(open(root)(request), WireGateway, gateway)
      })
    })
  )
