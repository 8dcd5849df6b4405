/** Sends the request of an agent to a provider with another API: over the AI SDK, with the response in the format of the agent. */
import { Effect, Schedule } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import type { SendToModel } from "../calls/AttemptModel.ts"
import { failure } from "../calls/Failure.ts"
import { sendRequest } from "../calls/ModelRequest.ts"
import type { Connect } from "../calls/ModelRequest.ts"
import type { WireCall } from "../WireGateway.ts"
import type { WireJson } from "./WireJson.ts"
import type { ResponseProgress } from "./ResponseProgress.ts"
import { wireFormat } from "../WireFormats.ts"
import type { WireEncoder, WireRequest } from "../WireRow.ts"

const pingInterval = "15 seconds"

/** Begins the stream, before its first event. */
const beginStream = (progress: ResponseProgress, encoder: WireEncoder): void => {
  if (progress.hasBegun) return
  progress.begin("text/event-stream")
  void progress.write(encoder.begin())
}

export const translate =
  (
    connect: Connect,
    call: WireCall,
    body: WireJson,
    { searchTools, unsupported }: Pick<WireRequest, "searchTools" | "unsupported">,
    progress: ResponseProgress
  ): SendToModel =>
  (request, model, runId, receipt) =>
    Effect.gen(function* () {
      if (unsupported.length > 0) return yield* Effect.fail(failure("invalid", untranslatable(unsupported)))
      if (searchTools.length > 0) call.onRemoved("not_translatable", searchTools)
      const row = wireFormat(call.format)
      const encoder = row.encoder(call.model, body)
      const write = (text: string) => {
        beginStream(progress, encoder)
        void progress.write(text)
      }
      if (call.streams && encoder.ping !== "") {
        // Reasoning is not part of the translated response, which would be silent.
        const pings = Effect.repeat(
          Effect.sync(() => write(encoder.ping)),
          Schedule.spaced(pingInterval)
        )
        yield* Effect.forkScoped(receipt.begun.pipe(Effect.andThen(Effect.sleep(pingInterval)), Effect.andThen(pings)))
      }
      const response = yield* sendRequest(
        connect,
        call.streams
          ? {
              ...request,
              onText: writeText(write, encoder),
              onToolCall: (called) => Effect.sync(() => write(encoder.call(called)))
            }
          : request,
        model,
        runId,
        receipt
      )
      call.memory.add(response.calls, response.native)
      const end = { usage: response.usage, isCutOff: response.isCutOff === true }
      if (call.streams) write(encoder.end(end))
      else {
        progress.begin("application/json")
        const { calls, text } = response
        void progress.write(JSON.stringify(row.whole(call.model, body, { ...end, calls, text })))
      }
      return response
    }).pipe(Effect.scoped)

const writeText = (write: (text: string) => void, encoder: WireEncoder) => (delta: string) => {
  if (delta !== "") write(encoder.text(delta))
}

const untranslatable = (unsupported: ReadonlyArray<string>): Reason => ({
  _tag: "Untranslatable",
  parts: unsupported.slice(0, 5)
})
