/**
 * A git host in one small server, for `npm run demo` and for tests: real repositories behind `git http-backend`, the part of a host's
 * REST API that a reviewer needs, signed webhooks, and pages on which people read the pull request and its comments. Everything
 * is on loopback and in the folder it is given.
 */
import { randomUUID } from "node:crypto"
import type { Server } from "node:http"
import type { DemoEvent } from "./DemoForgeDialect.ts"
import type { NewCommit } from "./DemoForgeGit.ts"
import { giteaDialect } from "./DemoForgeGitea.ts"
import { listen } from "./DemoForgeServer.ts"
import type { DemoForgeOptions, ForgeServer } from "./DemoForgeServer.ts"
import { addComment, createPull, createRepository, editPull, makeState, push, retarget } from "./DemoForgeState.ts"
import type {
  DemoComment,
  DemoPull,
  DemoRepository,
  DemoState,
  DemoUser,
  NewPull,
  Permission,
  PullEdit
} from "./DemoForgeState.ts"

export type { DemoForgeOptions, Fault } from "./DemoForgeServer.ts"

export interface DemoDelivery {
  readonly url: string
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface DemoForge {
  /** Web address, without trailing slash: `base_url` of the trigger. */
  readonly url: string
  readonly state: DemoState
  /** `owner/name`, empty; the first push makes its branches. */
  readonly createRepository: (fullName: string) => Promise<DemoRepository>
  readonly repository: (fullName: string) => DemoRepository
  /** Commits to a branch and moves the pull requests that are open from it. */
  readonly push: (fullName: string, change: NewCommit) => Promise<string>
  readonly createPull: (fullName: string, pull: NewPull) => Promise<DemoPull>
  readonly pull: (fullName: string, number: number) => DemoPull
  readonly close: (pull: DemoPull, merged: boolean) => void
  /** Changes fields of a pull request, without a delivery: opens it again, or marks it as ready. */
  readonly edit: (pull: DemoPull, edit: PullEdit) => void
  /** Comments on a pull request, without a delivery. */
  readonly comment: (pull: DemoPull, body: string, sender?: string) => DemoComment
  /** Changes the base branch of a pull request. */
  readonly retarget: (pull: DemoPull, baseBranch: string) => Promise<void>
  readonly setLabels: (pull: DemoPull, labels: ReadonlyArray<string>) => void
  readonly setPermission: (fullName: string, login: string, permission: Permission) => void
  /** Web page of a pull request. */
  readonly pageOf: (pull: DemoPull) => string
  readonly user: (login: string) => DemoUser
  /** A signed delivery, to be sent once or often. */
  readonly delivery: (event: DemoEvent, options?: { readonly id?: string; readonly secret?: string }) => DemoDelivery
  readonly send: (delivery: DemoDelivery) => Promise<{ readonly status: number; readonly body: unknown }>
  /** Makes and sends the delivery for something that happened to a pull request. */
  readonly notify: (
    pull: DemoPull,
    action: "opened" | "synchronized" | "closed" | "reopened" | "label_updated" | "edited",
    sender?: string
  ) => Promise<{ readonly status: number; readonly body: unknown }>
  readonly setWebhookUrl: (url: string) => void
  readonly stop: () => Promise<void>
}

const repositoryOf = (state: DemoState, fullName: string): DemoRepository => {
  const repository = state.repositories.get(fullName.toLowerCase())
  if (repository === undefined) throw new Error(`no repository ${fullName}`)
  return repository
}

const pullOf = (state: DemoState, fullName: string, number: number): DemoPull => {
  const pull = repositoryOf(state, fullName).pulls.get(number)
  if (pull === undefined) throw new Error(`no pull request ${fullName}#${number}`)
  return pull
}

/** A signed delivery of an event. */
const signedDelivery = (
  { dialect, options, state, url }: ForgeServer,
  webhookUrl: string | undefined,
  event: DemoEvent,
  { id = randomUUID(), secret = options.secret }: { readonly id?: string; readonly secret?: string } = {}
): DemoDelivery => {
  if (webhookUrl === undefined) throw new Error("the demo forge has no webhook URL yet")
  const { headers, payload } = dialect.payload(event, url, state)
  const body = Buffer.from(JSON.stringify(payload, undefined, 2))
  return {
    url: webhookUrl,
    id,
    headers: { "content-type": "application/json", ...headers, ...dialect.sign(body, secret, id) },
    body
  }
}

const send: DemoForge["send"] = async (delivery) => {
  const response = await fetch(delivery.url, {
    method: "POST",
    headers: delivery.headers,
    body: new Uint8Array(delivery.body)
  })
  const text = await response.text()
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
}

const stopServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

export const startDemoForge = async (options: DemoForgeOptions): Promise<DemoForge> => {
  const state = makeState()
  const forge: ForgeServer = {
    options,
    dialect: options.dialect ?? giteaDialect,
    state,
    accounts: new Map([[options.token, "aicr"], ...Object.entries(options.accounts ?? {})]),
    url: ""
  }
  let webhookUrl = options.webhookUrl
  const server = await listen(forge)
  const { url } = forge
  const delivery: DemoForge["delivery"] = (event, settings) => signedDelivery(forge, webhookUrl, event, settings)
  return {
    url,
    state,
    repository: (fullName) => repositoryOf(state, fullName),
    createRepository: (fullName) => createRepository(state, options.directory, fullName),
    push: (fullName, change) => push(state, repositoryOf(state, fullName), change),
    createPull: (fullName, pull) => createPull(state, repositoryOf(state, fullName), pull),
    pull: (fullName, number) => pullOf(state, fullName, number),
    close: (pull, merged) => editPull(state, pull, { state: "closed", merged }),
    edit: (pull, edit) => editPull(state, pull, edit),
    comment: (pull, body, sender = "dana") => addComment(state, pull, state.user(sender), body),
    retarget: (pull, baseBranch) => retarget(state, pull, baseBranch),
    setLabels: (pull, labels) => editPull(state, pull, { labels: labels.map(state.label) }),
    setPermission: (fullName, login, permission) =>
      void repositoryOf(state, fullName).permissions.set(login, permission),
    pageOf: (pull) => `${url}/${pull.repository.fullName}/pulls/${pull.number}`,
    user: state.user,
    delivery,
    send,
    notify: (pull, action, sender = "dana") =>
      send(delivery({ kind: "pull", pull, action, sender: state.user(sender) })),
    setWebhookUrl: (next) => {
      webhookUrl = next
    },
    stop: () => stopServer(server)
  }
}
