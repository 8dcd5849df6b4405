/** Implements the export of traces with Effect's exporter. Loaded only if the environment names a collector. */
import { hostname } from "node:os"
import { ConfigProvider, Context, Effect, Layer, Option, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import { RootSpanIds } from "../../domain/EventTrace.ts"
import { cleanText } from "../Redaction.ts"

export type TraceEnvironment = Readonly<Record<string, string | undefined>>

/** Naming a collector is enough: the exporter need not be named too. */
const withDefaults = (env: TraceEnvironment): Record<string, string> => ({
  OTEL_TRACES_EXPORTER: "otlp",
  OTEL_SERVICE_NAME: "aicr",
  ...Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith("OTEL_") && value !== undefined && value !== "" ? [[name, value] as const] : []
    )
  )
})

/** Gives a root span the ids of its event, and excludes spans without an event. */
const ofEvents = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      if (Option.isSome(options.parent)) return tracer.span(options)
      const ids = Context.getOption(options.annotations, RootSpanIds)
      const span = tracer.span({ ...options, sampled: Option.isSome(ids) })
      return Option.isNone(ids)
        ? span
        : Object.create(span, { traceId: { value: ids.value.traceId }, spanId: { value: ids.value.spanId } })
    },
    ...(tracer.context === undefined ? {} : { context: tracer.context })
  })

/** Removes credentials from every text of the exported data, as from lines of the log. */
const cleaned = <T>(data: T): T =>
  JSON.parse(JSON.stringify(data), (_key, value: unknown) => (typeof value === "string" ? cleanText(value) : value))

const layerSerialization = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (json) => ({ ...json, traces: (data) => json.traces(cleaned(data)) }))
).pipe(Layer.provide(OtlpSerialization.layerJson))

export const layer = (env: TraceEnvironment): Layer.Layer<never> =>
  Layer.effect(Tracer.Tracer, Effect.map(Effect.tracer, ofEvents)).pipe(
    Layer.provide(
      OtlpTracer.layerFromConfig({
        resource: { attributes: { "service.instance.id": `${hostname()}:${process.pid}` } }
      }).pipe(
        Layer.provide([layerSerialization, FetchHttpClient.layer]),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: withDefaults(env) })))
      )
    )
  )
