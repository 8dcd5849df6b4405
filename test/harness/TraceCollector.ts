/** A collector of OpenTelemetry that keeps the spans it receives over OTLP (HTTP, JSON). */
import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
  /** Value of `service.instance.id`. */
  readonly process: unknown
}

const readAttributes = (list: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    (Array.isArray(list) ? list : []).map((item: unknown) => {
      const { key, value } = Object(item)
      return [String(key), Object.values(Object(value))[0]]
    })
  )

const readSpans = (body: unknown): ReadonlyArray<CollectedSpan> =>
  [...Object(body).resourceSpans].flatMap((one: unknown) => {
    const { resource, scopeSpans } = Object(one)
    const process = readAttributes(Object(resource).attributes)["service.instance.id"]
    return [...scopeSpans].flatMap((scope: unknown) =>
      [...Object(scope).spans].map((span: unknown) => ({
        ...Object(span),
        attributes: readAttributes(Object(span).attributes),
        process
      }))
    )
  })

export class TraceCollector implements AsyncDisposable {
  readonly spans: Array<CollectedSpan> = []
  /** Everything that was received, as text. */
  received = ""
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async make(): Promise<TraceCollector> {
    const server = createServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        const text = Buffer.concat(parts).toString("utf8")
        collector.received += text
        if (request.url === "/v1/traces") collector.spans.push(...readSpans(JSON.parse(text)))
        response.writeHead(200, { "content-type": "application/json" }).end("{}")
      })
    })
    const collector = new TraceCollector(server)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return collector
  }

  /** Variables that lead a process to this collector. */
  get env(): Readonly<Record<string, string>> {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion
    const { port } = this.#server.address() as AddressInfo
    return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: "100" }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
