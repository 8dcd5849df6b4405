/** The administration behind a real HTTP server, over real records and a queue. Each response is checked against the served description. */
import { Context, Layer, Effect, Logger, ManagedRuntime } from "effect"
import * as Handle from "../../src/admin/handlers/Handle.ts"
import { Nodes } from "../../src/admin/nodes/Nodes.ts"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { ProviderStates } from "../../src/llm/ProviderStates.ts"
import { LastError } from "../../src/observability/LastError.ts"
import { Progress } from "../../src/observability/Progress.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { OwnAccounts } from "../../src/forge/OwnAccounts.ts"
import * as ReplayDeliveries from "../../src/ingress/ReplayDeliveries.ts"
import { IngressServer } from "../../src/ingress/Server.ts"
import { StoredFacts } from "../../src/ingress/StoredFacts.ts"
import * as MemoryQueue from "../../src/queue/journal/MemoryQueue.ts"
import { Operations } from "../../src/queue/operator/Operations.ts"
import type { Queue } from "../../src/queue/Queue.ts"
import type { QueueControl } from "../../src/queue/operator/QueueControl.ts"
import type { Objects } from "../../src/store/Objects.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { editorAlone } from "../harness/ConfigSource.ts"
import { ApiContract } from "./ApiContract.ts"
import { memoryObjects } from "../harness/MemoryObjects.ts"

export const password = "correct horse battery staple"

const document = {
  triggers: [{ name: "main", kind: "gitea", base_url: "https://git.test", webhook_secret_env: "SECRET" }],
  workspaces: { instances: { app: { source_repo: { trigger: "main", repo: "acme/app" } } } }
}

export interface AdminSettings {
  /** Sections in addition to triggers and workspaces. */
  readonly document?: object
  readonly env?: Readonly<Record<string, string>>
  readonly records?: Layer.Layer<Store.Records, unknown>
  readonly providers?: Layer.Layer<ProviderStates>
  /** True: the configuration is also edited in a database. */
  readonly database?: boolean
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

export const startAdmin = async (settings: AdminSettings = {}) => {
  const env = { SECRET: "s", ...(settings.env ?? { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password }) }
  const logged: Array<string> = []
  const parts = Layer.mergeAll(
    settings.database === true
      ? editorAlone({ document: { ...document, ...settings.document }, env })
      : Layer.unwrap(Effect.map(toSnapshot({ ...document, ...settings.document }, env), layerStatic)),
    settings.records ?? Layer.fresh(Store.layerMemory),
    Layer.fresh(MemoryQueue.layerMemory({ perWorkspace: 100, total: 100 })),
    StoredFacts.layerUnpublished,
    OwnAccounts.layer,
    memoryObjects,
    Progress.layer,
    NodeIdentity.layer("node-1"),
    LastError.layer,
    Logger.layer([Logger.make(({ message }) => logged.push(JSON.stringify(message)))])
  )
  const api = Handle.layer.pipe(
    Layer.provide([
      Operations.layer,
      Forges.layer,
      ReplayDeliveries.layer,
      settings.providers ?? ProviderStates.layerNone,
      Nodes.layerAlone({ roles: ["ingress"], version: "1.2.3" })
    ])
  )
  const runtime = ManagedRuntime.make(
    IngressServer.layerWith({ port: 0 }).pipe(Layer.provide(api), Layer.provideMerge(parts))
  )
  const { url } = Context.get(await runtime.context(), IngressServer)
  const contract = new ApiContract(await (await fetch(`${url}/api/openapi.json`)).json())

  const call = async (
    method: string,
    path: string,
    more: { readonly token?: unknown; readonly body?: unknown; readonly headers?: Record<string, string> } = {}
  ): Promise<Reply> => {
    const response = await fetch(`${url}/api/admin${path}`, {
      method,
      headers: {
        ...(more.body === undefined ? {} : { "content-type": "application/json" }),
        ...(more.token === undefined ? {} : { authorization: `Bearer ${String(more.token)}` }),
        ...more.headers
      },
      ...(more.body === undefined
        ? {}
        : { body: typeof more.body === "string" ? more.body : JSON.stringify(more.body) })
    })
    const text = await response.text()
    contract.check({
      method,
      path: `/api/admin${path}`,
      status: response.status,
      contentType: response.headers.get("content-type"),
      text
    })
    const body: unknown = text === "" ? {} : JSON.parse(text)
    return { status: response.status, headers: response.headers, text, body: Object(body) }
  }
  const login = (given = password, username = "root", headers: Record<string, string> = {}) =>
    call("POST", "/login", { body: { username, password: given }, headers })
  return {
    url,
    logged,
    call,
    login,
    token: async (): Promise<unknown> => (await login()).body["token"],
    run: <A, E>(effect: Effect.Effect<A, E, Objects | Store.Records | Progress | Queue | QueueControl>): Promise<A> =>
      runtime.runPromise(effect),
    stop: () => runtime.dispose()
  }
}
export type AdminServer = Awaited<ReturnType<typeof startAdmin>>
