/** A listening ingress over real records and a real queue, with a recorder instead of actors. */
import { createHmac } from "node:crypto"
import { Context, Effect, Layer, Logger, ManagedRuntime, Schema } from "effect"
import type { ConfigStore } from "../../src/config/ConfigStore.ts"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { OwnAccounts } from "../../src/forge/OwnAccounts.ts"
import type { IngressOptions } from "../../src/ingress/Server.ts"
import { IngressServer } from "../../src/ingress/Server.ts"
import { StoredFacts } from "../../src/ingress/StoredFacts.ts"
import type { StoredCommand, StoredFact } from "../../src/ingress/StoredFacts.ts"
import { layerMemory as queueMemory } from "../../src/queue/journal/MemoryQueue.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Inventories } from "../../src/store/Inventories.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/StoreLayer.ts"

export const secret = "It's a Secret to Everybody"
export const env = {
  SECRET: secret,
  OTHER_SECRET: "another",
  GLOBAL_KEY: "the-key-of-the-service",
  WORKSPACE_KEY: "the-key-of-one-workspace",
  GITLAB_SIGNING: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
}

/** One trigger and one workspace per host, bound to `acme/app`. */
export const document = {
  triggers: [
    { name: "hub", kind: "github", webhook_secret_env: "SECRET" },
    { name: "tea", kind: "gitea", webhook_secret_env: "SECRET", base_url: "https://gitea.test" },
    { name: "jo", kind: "forgejo", webhook_secret_env: "SECRET", base_url: "https://forgejo.test" },
    { name: "lab", kind: "gitlab", webhook_secret_env: "SECRET" }
  ],
  workspaces: {
    instances: {
      "on-hub": { source_repo: { trigger: "hub", repo: "acme/app" } },
      "on-tea": { source_repo: { trigger: "tea", repo: "acme/app" } },
      "on-jo": { source_repo: { trigger: "jo", repo: "acme/app" } },
      "on-lab": { source_repo: { trigger: "lab", repo: "acme/app" } }
    }
  }
}

export interface Woken {
  readonly workspaces: Array<string>
  readonly newerHeads: Array<string>
  /** Ids of entries. */
  readonly unreviewed: Array<string>
  readonly closed: Array<string>
  /** Number of notifications about stored reports. */
  reports: number
  readonly commands: Array<StoredCommand>
  readonly installations: Array<string>
}

export interface Ingress {
  readonly url: string
  readonly port: number
  readonly woken: Woken
  readonly receipts: Receipts["Service"]
  readonly queue: Queue["Service"]
  readonly ownAccounts: OwnAccounts["Service"]
  readonly inventories: Inventories["Service"]
  readonly stop: () => Promise<void>
}

export interface IngressSettings extends IngressOptions {
  readonly document?: unknown
  /** Replaces the store of `document`. */
  readonly config?: Layer.Layer<ConfigStore>
  /** Variables in addition to `env`. */
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: { readonly perWorkspace: number; readonly total: number }
  readonly receipts?: Layer.Layer<Receipts>
  /** Replaces the in-memory records. */
  readonly records?: Layer.Layer<Store.Records, unknown>
  readonly queue?: Layer.Layer<Queue>
  /** Replaces the absence of a log. */
  readonly logger?: Layer.Layer<never>
}

export const startIngress = async (settings: IngressSettings = {}): Promise<Ingress> => {
  const woken: Woken = {
    workspaces: [],
    newerHeads: [],
    unreviewed: [],
    closed: [],
    reports: 0,
    commands: [],
    installations: []
  }
  const record = (fact: StoredFact): void => {
    switch (fact._tag) {
      case "EntriesChanged":
        return void woken.workspaces.push(fact.workspace)
      case "HeadQueued":
        return void woken.newerHeads.push(`${fact.targetKey} ${fact.head}`)
      case "UnreviewedQueued":
        return void woken.unreviewed.push(fact.entryId)
      case "TargetClosed":
        return void woken.closed.push(fact.targetKey)
      case "SubmitReported":
        return void woken.reports++
      case "CommentCommanded":
        return void woken.commands.push(fact.request)
      case "InstallationChanged":
        return void woken.installations.push(...fact.triggers)
      default:
    }
  }
  const parts = Layer.mergeAll(
    settings.config ??
      Layer.unwrap(Effect.map(toSnapshot(settings.document ?? document, { ...env, ...settings.env }), layerStatic)),
    settings.records ?? Layer.fresh(Store.layerMemory),
    settings.queue ?? queueMemory(settings.limits ?? { perWorkspace: 10_000, total: 1_000_000 }),
    Layer.succeed(StoredFacts, { publish: record }),
    OwnAccounts.layer,
    settings.logger ?? Logger.layer([]),
    settings.receipts ?? Layer.empty
  )
  const runtime = ManagedRuntime.make(IngressServer.layerWith({ port: 0, ...settings }).pipe(Layer.provideMerge(parts)))
  const context = await runtime.context()
  const server = Context.get(context, IngressServer)
  return {
    url: server.url,
    port: server.port,
    woken,
    receipts: Context.get(context, Receipts),
    queue: Context.get(context, Queue),
    ownAccounts: Context.get(context, OwnAccounts),
    inventories: Context.get(context, Inventories),
    stop: () => runtime.dispose()
  }
}

export const hmac = (body: string | Uint8Array, key = secret): string =>
  createHmac("sha256", key).update(body).digest("hex")

/** Has the form of a signature, so that the body is needed to refuse it. */
export const forged = { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }

export const head = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"

/** A GitHub pull request event in the fields that are read. */
export const pullRequest = (
  over: { readonly action?: string; readonly pull?: object; readonly repo?: string } = {}
) => ({
  action: over.action ?? "opened",
  repository: {
    id: 1,
    full_name: over.repo ?? "acme/app",
    clone_url: `https://github.com/${over.repo ?? "acme/app"}.git`,
    html_url: `https://github.com/${over.repo ?? "acme/app"}`
  },
  sender: { login: "ada" },
  pull_request: {
    number: 7,
    title: "Add a thing",
    body: null,
    html_url: "https://github.com/acme/app/pull/7",
    draft: false,
    user: { login: "ada" },
    labels: [],
    head: { sha: head, ref: "feature" },
    base: { sha: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e", ref: "main" },
    ...over.pull
  }
})

/** All fields of a response body; unknown fields fail. */
const AnswerBody = Schema.Struct({
  accepted: Schema.optionalKey(Schema.Boolean),
  event_id: Schema.optionalKey(Schema.String),
  provider: Schema.optionalKey(Schema.String),
  event: Schema.optionalKey(Schema.String),
  target_kind: Schema.optionalKey(Schema.String),
  workspace: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.Union([Schema.String, Schema.Int])),
  due_at: Schema.optionalKey(Schema.String),
  reason: Schema.optionalKey(Schema.Unknown),
  issues: Schema.optionalKey(Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))),
  type: Schema.optionalKey(Schema.String),
  title: Schema.optionalKey(Schema.String),
  code: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String)
})
const decodeAnswer = Schema.decodeUnknownSync(AnswerBody, { onExcessProperty: "error" })

/** Returns the id of the event record from a response. */
export const readEventId = (answer: { readonly body: typeof AnswerBody.Type }): string => answer.body.event_id ?? ""

/** A signed GitHub delivery; `delivery` is its id. */
export const deliver = async (
  ingress: Ingress,
  event: string,
  payload: unknown,
  headers: Record<string, string> = {}
): Promise<{ readonly status: number; readonly body: typeof AnswerBody.Type; readonly headers: Headers }> => {
  const body = typeof payload === "string" ? payload : JSON.stringify(payload)
  const response = await fetch(`${ingress.url}/webhooks/github`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": crypto.randomUUID(),
      "x-hub-signature-256": `sha256=${hmac(body)}`,
      ...headers
    },
    body
  })
  return { status: response.status, body: decodeAnswer(await response.json()), headers: response.headers }
}
