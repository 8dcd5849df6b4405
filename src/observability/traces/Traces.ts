/**
 * Exports traces over OTLP (HTTP, JSON) if the environment names a collector, with the variables of OpenTelemetry:
 * `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `…_HEADERS`, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
 * `OTEL_SDK_DISABLED`. Only spans that belong to the trace of an event are exported, not those of polls and other background work.
 */
import { Effect, Layer } from "effect"
import type { TraceEnvironment } from "./ExportTraces.ts"

/** Returns whether the environment names a collector of traces. */
const exportsTraces = (env: TraceEnvironment): boolean =>
  (env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] ?? env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "") !== ""

export const layer = (env: TraceEnvironment): Layer.Layer<never> =>
  exportsTraces(env)
    ? Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("./ExportTraces.ts")),
          (traces) => traces.layer(env)
        )
      )
    : Layer.empty
