/** A git host that lists what changed on it, and a service that searches it. */
import { Effect, Layer } from "effect"
import { searchHost } from "../../../actors/catchup/SearchHost.ts"
import { SearchMemory } from "../../../actors/catchup/HostSearch.ts"
import { StoredFacts } from "../../../src/ingress/StoredFacts.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../../src/config/Snapshot.ts"
import type { HostEvent } from "../../../src/domain/HostEvent.ts"
import type { HostPull, LoggedDelivery, OpenIssue } from "../../../src/forge/Forge.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { OwnAccounts } from "../../../src/forge/OwnAccounts.ts"
import * as ReceiveFound from "../../../src/ingress/ReceiveFound.ts"
import { actorStores, testForges } from "../../harness/ActorParts.ts"

export const hour = 3_600_000
/** Time of the first search, on both clocks. */
export const start = Date.parse("2026-03-10T12:00:00Z")

interface ListedPull extends Pick<HostPull, "head" | "state" | "draft" | "labels" | "baseRef"> {
  readonly repo: string
  readonly updatedAt: number
  readonly comments: ReadonlyArray<{
    readonly id: string
    readonly body: string
    readonly createdAt: number
    readonly author?: string
    /** Whether it is in a thread that another comment began. */
    readonly isReply?: boolean
  }>
}

export class ListedHost {
  readonly pulls = new Map<number, ListedPull>()
  readonly issues: Array<OpenIssue> = []
  readonly tips = new Map<string, string>()
  /** Final statuses of the service, by commit. */
  readonly statuses = new Map<string, number>()
  /** Attempts of deliveries, the latest first; undefined without a log. */
  deliveries: Array<LoggedDelivery & { readonly event: HostEvent }> | undefined
  /** Requests since they were last read. */
  requests: Array<string> = []
  /** Requests that fail. */
  fails: RegExp | undefined

  set(number: number, change: Partial<ListedPull> & Pick<ListedPull, "updatedAt">): void {
    const existing = this.pulls.get(number)
    this.pulls.set(number, {
      repo: "acme/app",
      head: `head-${number}`,
      state: "open",
      draft: false,
      labels: [],
      baseRef: "main",
      comments: [],
      ...existing,
      ...change
    })
  }

  /** Replaces the configuration of the service. */
  configure: (snapshot: Snapshot) => void = () => {}

  configured(given: Snapshot): ConfigStore["Service"] {
    let snapshot = given
    this.configure = (next) => {
      snapshot = next
    }
    return { ...makeStaticStore(given), current: () => snapshot }
  }

  #request<A>(request: string, read: () => A): Effect.Effect<A, ForgeError> {
    return Effect.suspend(() => {
      this.requests.push(request)
      return this.fails?.test(request) === true
        ? Effect.fail(new ForgeError({ reason: "unavailable", operation: request, why: { _tag: "Unreachable" } }))
        : Effect.sync(read)
    })
  }

  readonly forges = (): Forges["Service"] => {
    const forges = testForges(Effect.die("unused"))
    return {
      ...forges,
      client: (profile) => ({
        ...forges.client(profile),
        self: Effect.succeed({ username: "aicr" }),
        pull: (repo, number) =>
          this.#request(`pull ${number}`, () => {
            const { baseRef, comments, draft, head, labels, state } = this.pulls.get(number) ?? raise(number)
            return {
              number,
              draft,
              head,
              labels,
              state,
              baseRef,
              repo,
              headRepo: repo,
              comments: comments.length,
              base: "b",
              headRef: "feature",
              title: `Pull ${number}`,
              description: "",
              url: "",
              author: undefined
            }
          }),
        changes: {
          deliveries: this.deliveries && {
            list: (since, max) =>
              this.#request("deliveries", () => {
                const found = (this.deliveries ?? []).filter(({ at }) => at >= since)
                return { deliveries: found.slice(0, max), more: Math.max(0, found.length - max) }
              }),
            event: (id) =>
              this.#request(`delivery ${id}`, () => this.deliveries?.find((delivery) => delivery.id === id)?.event),
            repeat: (id) => this.#request(`repeat ${id}`, () => undefined)
          },
          pulls: (owner, since = 0, max) =>
            this.#request(`pulls ${owner.name}`, () => {
              const found = [...this.pulls]
                .filter(([, { repo, updatedAt }]) => repo.startsWith(`${owner.name}/`) && updatedAt >= since)
                .toSorted(([, one], [, other]) => other.updatedAt - one.updatedAt)
              const pulls = found
                .slice(0, max)
                .map(([number, pull]) => ({ ...pull, number, repo: { fullName: pull.repo } }))
              return { pulls, more: found.length - pulls.length }
            }),
          issues: (owner, since, max) =>
            this.#request(`issues ${owner.name}`, () => {
              const found = this.issues.filter(({ updatedAt }) => updatedAt >= since)
              return { issues: found.slice(0, max), more: Math.max(0, found.length - max) }
            }),
          comments: (_, number, since) =>
            this.#request(`comments ${number}`, () =>
              (this.pulls.get(number)?.comments ?? [])
                .filter(({ createdAt }) => createdAt >= since)
                .map(({ author: username = "dana", id, isReply = false, ...comment }) => ({
                  ...comment,
                  place: { id, on: "pull_request", kind: "general" } as const,
                  isReply,
                  author: { username }
                }))
            ),
          tips: (repo, branches = []) =>
            this.#request(`tips ${repo.fullName}`, () =>
              branches.flatMap((branch) => {
                const head = this.tips.get(branch)
                return head === undefined ? [] : [{ branch, head }]
              })
            ),
          pushed: (_, before, after) =>
            this.#request(`pushed ${before} ${after}`, () => ({
              commits: 2,
              listed: ["mid", after].map((id) => ({ id, author: "dana", email: undefined, message: "Work" }))
            })),
          ownStatus: (_, head) =>
            this.#request(`status ${head}`, () => {
              const at = this.statuses.get(head)
              return at === undefined ? undefined : ({ state: "success", at } as const)
            })
        }
      })
    }
  }
}

const raise = (number: number): never => {
  throw new Error(`no pull request ${number}`)
}

const trigger = { name: "tea", kind: "gitea", base_url: "https://gitea.test", token: "t", webhook_secret: "s" }

interface ServiceOptions {
  /** Name of the trigger, instead of `tea`. */
  readonly name?: string
  readonly catch_up?: object
  readonly review?: object
  readonly triage?: object
  readonly limits?: { readonly perWorkspace: number; readonly total: number }
}

const queueLimits = { perWorkspace: 100, total: 100 }

export const makeDocument = (options: ServiceOptions) => {
  const { catch_up = {}, limits = queueLimits, name = trigger.name, review = {}, triage = {} } = options
  return {
    triggers: [{ ...trigger, name, catch_up }],
    queue: { limits: { per_workspace: limits.perWorkspace, total: limits.total } },
    workspaces: { instances: { app: { source_repo: { trigger: name, repo: "acme/app" }, review, triage } } }
  }
}

/** The parts of a service over a host; `limits` are those of its queue. */
export const service = (host: ListedHost, options: ServiceOptions = {}) => {
  const parts = Layer.mergeAll(
    actorStores(options.limits ?? queueLimits),
    Layer.effect(
      ConfigStore,
      Effect.map(toSnapshot(makeDocument(options), {}), (given) => host.configured(given))
    ),
    OwnAccounts.layer,
    Layer.sync(Forges, () => Forges.of(host.forges())),
    StoredFacts.layerUnpublished
  )
  return ReceiveFound.layer.pipe(Layer.provideMerge(parts))
}

/** Searches once, as a process that has the memory, and returns what it counted. */
export const search = Effect.fnUntraced(function* (memory = new SearchMemory()) {
  const [profile] = (yield* ConfigStore).current().triggers.values()
  if (profile === undefined) return yield* Effect.die("no trigger")
  const tally = { found: 0, skipped: 0 }
  const failure = yield* Effect.catch(searchHost(profile, "gitea", { memory, occasion: "beat", tally }), ({ why }) =>
    Effect.succeed(why)
  )
  return { ...tally, failure: failure?._tag }
})
