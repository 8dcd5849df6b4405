/** Fetches the catalog document: bounded in time and size, and only if it changed. */
import { Agent, EnvHttpProxyAgent, fetch as undiciFetch } from "undici"
import { Effect, Schema } from "effect"
import { isLoopback } from "../providers/Transport.ts"
import type { CatalogEntry } from "./CatalogCache.ts"

const maxBytes = 32 * 1024 * 1024
const maxRecordLength = 32 * 1024

class CatalogSourceError extends Schema.TaggedError<CatalogSourceError>()("CatalogSourceError", {
  message: Schema.String
}) {}

type Fetched =
  | { readonly _tag: "Unchanged" }
  | { readonly _tag: "Document"; readonly etag: string | undefined; readonly entries: Iterable<CatalogEntry> }

export const fetchCatalog = (
  url: string,
  etag: string | undefined,
  timeoutMillis: number
): Effect.Effect<Fetched, CatalogSourceError> =>
  Effect.tryPromise({
    try: async (signal): Promise<Fetched> => {
      await using dispatcher = disposable(isLoopback(url) ? new Agent() : new EnvHttpProxyAgent())
      const response = await undiciFetch(url, {
        headers: { accept: "application/json", ...(etag === undefined ? {} : { "if-none-match": etag }) },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMillis)]),
        dispatcher: dispatcher.agent
      })
      if (response.status === 304) return { _tag: "Unchanged" }
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      const chunks: Array<Uint8Array> = []
      let size = 0
      for await (const chunk of response.body ?? []) {
        size += chunk.byteLength
        if (size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024 / 1024} MiB`)
        chunks.push(chunk)
      }
      const entries = parseEntries(JSON.parse(Buffer.concat(chunks).toString("utf8")))
      if (entries === undefined) throw new Error("not a catalog; expected an object of providers with `models`")
      return { _tag: "Document", etag: response.headers.get("etag") ?? undefined, entries }
    },
    catch: (cause) =>
      new CatalogSourceError({
        message: `The model catalog ${url} could not be fetched: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })

const disposable = (agent: Agent | EnvHttpProxyAgent) => ({
  agent,
  [Symbol.asyncDispose]: () => agent.destroy()
})

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Lists the models of a document as `<provider>/<model>`; undefined if there is none. Records are decoded at look-up, because the
 * document has thousands.
 */
export const parseEntries = (document: unknown): Iterable<CatalogEntry> | undefined => {
  if (!isRecord(document)) return undefined
  const entries = {
    *[Symbol.iterator](): Generator<CatalogEntry> {
      for (const [provider, fields] of Object.entries(document)) {
        if (!isRecord(fields) || !isRecord(fields["models"])) continue
        for (const [model, record] of Object.entries(fields["models"])) {
          const text = isRecord(record) ? JSON.stringify(record) : undefined
          if (text !== undefined && text.length <= maxRecordLength) yield { id: `${provider}/${model}`, record: text }
        }
      }
    }
  }
  return entries[Symbol.iterator]().next().done === true ? undefined : entries
}
