/**
 * An installation of several nodes: real processes that share a real NATS, Postgres and Redis, with a git host and a
 * model as in Installation.ts. Verbs: start and end nodes by name (AicrProcess has kill, stop, freeze and thaw), cut
 * the line to NATS, restart the stores. Deliveries go to the ingress nodes round-robin, and to the next one when one
 * does not respond, as behind a load balancer.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { stringify } from "yaml"
import { startDemoForge } from "../../demo/DemoForge.ts"
import type { DemoDelivery, DemoForge, DemoForgeOptions } from "../../demo/DemoForge.ts"
import type { ApiRequest } from "../../demo/DemoForgeDialect.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { AicrProcess } from "./AicrProcess.ts"
import { CutLine } from "./CutLine.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { startFakeForge } from "./FakeForge.ts"
import { startFakeModel } from "./FakeModel.ts"
import type { FakeModel } from "./FakeModel.ts"
import { freePort } from "./FreePort.ts"
import type { HostHooks, InstallationOptions } from "./Installation.ts"
import {
  renderContent,
  makeDocument,
  toFilePath,
  honest,
  namesIn,
  postedOn,
  secret,
  listStates,
  makeToken
} from "./Installation.ts"
import { NatsServer } from "./Nats.ts"
import { p4User } from "./perforce/PerforceDepot.ts"
import type { PerforceDepot } from "./perforce/PerforceDepot.ts"
import { PostgresServer } from "./Postgres.ts"
import { RedisServer } from "./Redis.ts"
import { waitUntil } from "./Wait.ts"

export interface ClusterOptions {
  /** Kind of the host. Default: Gitea. */
  readonly kind?: NonNullable<InstallationOptions["kind"]>
  readonly app?: InstallationOptions["app"]
  /** Number of repositories, each with a workspace and a token of its own. */
  readonly repositories: number
  /** Number of repositories in the first configuration of each node. Default: all. */
  readonly configured?: number
  readonly queue?: "redis" | "nats"
  /** Slots of each executor node. */
  readonly slots?: number
  readonly perWorkspaceConcurrency?: number
  /** Default: that of the configuration. */
  readonly maxWaitingForModel?: number | undefined
  readonly writeIntervalMs?: InstallationOptions["writeIntervalMs"]
  /** The namespace `im`. */
  readonly im?: object
  /** Fields of `agent`. Default: native-llm. */
  readonly agent?: InstallationOptions["agent"]
  /** Fields of `review`, in addition to the defaults of the tests. */
  readonly review?: InstallationOptions["review"]
  /** Fields of `server`, in addition to the defaults of the tests. */
  readonly server?: InstallationOptions["server"]
  /** `outputs.routes.rules`. */
  readonly rules?: ReadonlyArray<object>
  readonly notices?: Pick<InstallationOptions, "channels" | "noticeRoutes">
  /** Environment of every node. */
  readonly env?: Readonly<Record<string, string>>
  /** A server of Perforce whose streams of the depot `Ace` are reviewed in the workspace `game`; its password is in TEST_PASSWORD. */
  readonly depot?: Pick<PerforceDepot, "port" | "program">
  /** Nodes reach NATS over a line that can be cut; false: directly, for what is measured. */
  readonly line?: boolean
  /** Daily cost limit of a repository in US dollars. */
  readonly dailyUsd?: number
  /** Reviews are retried as in a configuration without `queue.retry`; default: almost immediately. */
  readonly defaultRetry?: boolean
}

export class ClusterInstallation implements AsyncDisposable {
  readonly directory: string
  readonly forge: DemoForge
  /** May be replaced at any time. */
  readonly host: Pick<HostHooks, "onRequest">
  readonly model: FakeModel
  readonly nats: NatsServer
  readonly line: CutLine
  readonly postgres: PostgresServer
  readonly redis: RedisServer
  readonly repositories: ReadonlyArray<string>
  readonly nodes = new Map<string, AicrProcess>()
  /** Names of nodes that take deliveries and are believed to be up. */
  readonly ingress: Array<string> = []
  /** Times of the writes that people see, by the credential that they came with. */
  readonly writes: ReadonlyMap<string, ReadonlyArray<number>>
  /** Every response to a delivery. */
  readonly answers: Array<{ readonly node: string; readonly status: number }> = []
  readonly #options: ClusterOptions
  readonly #ports = new Map<string, number>()
  #turn = 0

  private constructor(
    options: ClusterOptions,
    parts: Pick<
      ClusterInstallation,
      "directory" | "forge" | "host" | "model" | "nats" | "line" | "postgres" | "redis" | "repositories" | "writes"
    >
  ) {
    this.#options = options
    this.directory = parts.directory
    this.forge = parts.forge
    this.host = parts.host
    this.model = parts.model
    this.nats = parts.nats
    this.line = parts.line
    this.postgres = parts.postgres
    this.redis = parts.redis
    this.repositories = parts.repositories
    this.writes = parts.writes
  }

  static async make(options: ClusterOptions): Promise<ClusterInstallation> {
    const repositories = Array.from({ length: options.repositories }, (_, index) => `team/r${index}`)
    const directory = await mkdtemp(join(tmpdir(), "aicr-cluster-"))
    await mkdir(join(directory, "forge"))
    const [nats, postgres, redis, model] = await Promise.all([
      NatsServer.start(),
      PostgresServer.start(),
      RedisServer.start("everysec"),
      startFakeModel(honest)
    ])
    const line = await CutLine.to({ host: "127.0.0.1", port: nats.port })
    const writes = new Map<string, Array<number>>()
    const host: Pick<HostHooks, "onRequest"> = { onRequest: () => undefined }
    const forge = await startHost(options.kind ?? "gitea", {
      directory: join(directory, "forge"),
      token: makeToken(0),
      accounts: Object.fromEntries(repositories.map((_, index) => [makeToken(index), "aicr"])),
      secret,
      onRequest: (request) => {
        const fault = host.onRequest(request)
        if (fault !== undefined) return fault
        if (!isContentWrite(request)) return undefined
        const account = String(request.headers.authorization)
        writes.set(account, [...(writes.get(account) ?? []), performance.now()])
        return undefined
      }
    })
    for (const repository of repositories) {
      await forge.createRepository(repository)
      await forge.push(repository, { branch: "main", message: "Start", files: { "README.md": "# Start\n" } })
    }
    return new ClusterInstallation(options, {
      directory,
      forge,
      host,
      model,
      nats,
      line,
      postgres,
      redis,
      repositories,
      writes
    })
  }

  /** Adds a node and waits until it is ready. `more` is environment of this node only. */
  async start(name: string, roles: string, more: Readonly<Record<string, string>> = {}): Promise<AicrProcess> {
    const node = await this.add(name, roles, more)
    await node.start()
    return node
  }

  /** A node that is not started yet. */
  async add(name: string, roles: string, more: Readonly<Record<string, string>> = {}): Promise<AicrProcess> {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    this.#ports.set(name, port)
    await this.configure(name, this.#options.configured ?? this.repositories.length)
    const configFile = this.#configFile(name)
    const env = { ...this.env(name, roles), ...more }
    const node = new AicrProcess({ configFile, url, env })
    this.nodes.set(name, node)
    if (roles.includes("ingress") || roles === "all") this.ingress.push(name)
    return node
  }

  /** Writes the configuration of a node with the first `count` repositories. */
  async configure(name: string, count: number): Promise<void> {
    const port = this.#ports.get(name)
    if (port === undefined) throw new Error(`no node ${name}`)
    const document = this.#document(name, port, this.repositories.slice(0, count))
    await writeFile(this.#configFile(name), stringify(document))
  }

  #configFile(name: string): string {
    return join(this.directory, `${name}.yaml`)
  }

  /**
   * Returns the environment of a node, or of an operator next to it. A node has the secrets of its roles only, as in
   * the deployments.
   */
  env(name: string, roles: string): Readonly<Record<string, string>> {
    const plays = (role: string): boolean => roles === "all" || roles.split(",").includes(role)
    const tokens = this.repositories.map((_, index) => [`TEST_TOKEN_${index}`, makeToken(index)])
    return {
      ...(plays("executor") || plays("publisher") ? Object.fromEntries(tokens) : {}),
      ...(plays("ingress") ? { TEST_SECRET: secret } : {}),
      ...(plays("executor") ? { TEST_KEY: "key-of-the-model" } : {}),
      TEST_POSTGRES: this.postgres.url,
      TEST_REDIS: this.redis.url,
      SVC_NATS_URL: this.#options.line === false ? this.nats.url : `nats://127.0.0.1:${this.line.port}`,
      SVC_NODE_NAME: name,
      SVC_ROLES: roles,
      SVC_LOG_LEVEL: "info",
      ...this.#options.env
    }
  }

  node(name: string): AicrProcess {
    const node = this.nodes.get(name)
    if (node === undefined) throw new Error(`no node ${name}`)
    return node
  }

  /** Opens a pull request that adds `src/<name>.ts`. */
  async open(name: string, repository: string): Promise<DemoPull> {
    await this.push(name, 1, repository)
    return this.forge.createPull(repository, { headBranch: name, title: `Add ${name}` })
  }

  push(name: string, version: number, repository: string): Promise<string> {
    return this.forge.push(repository, {
      branch: name,
      from: "main",
      message: `Version ${version}`,
      files: { [toFilePath(name)]: renderContent(name, version) }
    })
  }

  /** Sends a delivery until a node, by default any, accepts it. */
  async deliver(pull: DemoPull, action: "opened" | "synchronized" = "opened", to?: string): Promise<void> {
    this.forge.setWebhookUrl("http://ingress.test/webhooks")
    const delivery = this.forge.delivery({ kind: "pull", pull, action, sender: this.forge.user("dana") })
    await this.accepted(delivery, to)
  }

  /** Sends a delivery until a node accepts it. */
  async accepted(delivery: DemoDelivery, to?: string): Promise<void> {
    await waitUntil(() => this.#send(delivery, to), {
      timeout: 60_000,
      describe: () => `a delivery is accepted; answers: ${JSON.stringify(this.answers.slice(-10))}`
    })
  }

  async #send(delivery: DemoDelivery, only?: string): Promise<boolean> {
    const name = only ?? this.ingress[this.#turn++ % this.ingress.length]
    if (name === undefined) throw new Error("no node takes deliveries")
    const to = { ...delivery, url: `${this.node(name).url}/webhooks/${this.#options.kind ?? "gitea"}` }
    const answer = await this.forge.send(to).catch(() => undefined)
    if (answer === undefined) return false
    this.answers.push({ node: name, status: answer.status })
    const { reason } = Object(answer.body)
    // A search may find the change before its delivery is accepted.
    if (reason !== undefined && reason !== "already_reviewed" && answer.status === 202)
      throw new Error(`${name} ignored ${delivery.url}: ${JSON.stringify(answer.body)}`)
    return answer.status === 202
  }

  /** Waits until the newest head of each carries the status that is written last. */
  async reviewed(pulls: ReadonlyArray<DemoPull>, timeout: number): Promise<void> {
    const open = () => pulls.filter((pull) => listStates(pull).at(-1) !== "success")
    await waitUntil(() => open().length === 0, {
      timeout,
      describe: () =>
        `${open().length} of ${pulls.length} are not reviewed:\n${open()
          .slice(0, 10)
          .map(
            (pull) => `${pull.repository.fullName} ${pull.title}: ${JSON.stringify([postedOn(pull), listStates(pull)])}`
          )
          .join("\n")}\n${this.logs(40)}`
    })
  }

  /** Waits until the records say that nothing is left to do. */
  async settled(timeout = 60_000): Promise<void> {
    let open: ReadonlyArray<string> = []
    await waitUntil(
      async () => {
        open = await this.unfinished()
        return open.length === 0
      },
      // Each evaluation is a connection of its own.
      { timeout, interval: 100, describe: () => `still open: ${open.slice(0, 20).join(", ")}\n${this.logs(40)}` }
    )
  }

  /** Lists unfinished records: accepted deliveries without an outcome, runs, publications, reservations. */
  async unfinished(): Promise<ReadonlyArray<string>> {
    const rows = await this.query<{ what: string }>(
      `SELECT 'delivery ' || id AS what FROM events WHERE work IS NOT NULL AND outcome IS NULL
       UNION ALL SELECT 'run ' || id || ' ' || status FROM runs WHERE status IN ('queued', 'preparing', 'analyzing', 'publishing')
       UNION ALL SELECT kind || ' ' || status FROM publications WHERE status IN ('pending', 'sending', 'unknown')
       UNION ALL SELECT 'reservation ' || id FROM ledger_reservations WHERE status = 'open'`
    )
    return rows.map(({ what }) => what)
  }

  async query<Row extends object>(text: string): Promise<ReadonlyArray<Row>> {
    const client = new Client({ connectionString: this.postgres.url })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  /** Requests to the model about this pull request. */
  countModelCalls(name: string): number {
    return this.model.requests.filter((request) => namesIn(request).includes(name)).length
  }

  /** The last lines of every node. */
  logs(lines: number): string {
    return [...this.nodes]
      .map(([name, { log }]) => `--- ${name}\n${log.trimEnd().split("\n").slice(-lines).join("\n")}`)
      .join("\n")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.nodes.values()].map((node) => node[Symbol.asyncDispose]()))
    await this.line[Symbol.asyncDispose]()
    await Promise.all([
      this.nats[Symbol.asyncDispose](),
      this.postgres[Symbol.asyncDispose](),
      this.redis[Symbol.asyncDispose](),
      this.forge.stop(),
      this.model.close()
    ])
    await rm(this.directory, { recursive: true, force: true })
  }

  #document(name: string, port: number, repositories: ReadonlyArray<string>) {
    const {
      agent = {},
      app,
      dailyUsd,
      defaultRetry = false,
      depot,
      maxWaitingForModel,
      notices,
      perWorkspaceConcurrency = 1,
      queue = "redis",
      review = {},
      rules = [],
      server = {},
      slots = 4,
      writeIntervalMs
    } = this.#options
    const base = makeDocument(
      {
        kind: this.#options.kind ?? "gitea",
        app,
        queue: "memory",
        concurrency: slots,
        perWorkspaceConcurrency,
        maxWaitingForModel,
        writeIntervalMs,
        agent,
        review,
        server,
        ...notices
      },
      repositories,
      {
        directory: this.directory,
        port,
        forge: this.forge,
        model: this.model
      }
    )
    return {
      ...base,
      ...(this.#options.im === undefined ? {} : { im: this.#options.im }),
      outputs: { ...base.outputs, routes: { ...base.outputs.routes, rules } },
      triggers: [...base.triggers, ...(depot === undefined ? [] : [triggerOf(depot)])],
      ...(depot === undefined ? {} : { perforce: { client_path: depot.program } }),
      workspaces: {
        root: join(this.directory, name, "workspaces"),
        instances: {
          ...base.workspaces.instances,
          ...(depot === undefined ? {} : { game: { source_repo: { trigger: "depot", repo: "game" } } })
        }
      },
      llm: {
        ...base.llm,
        ...(dailyUsd === undefined
          ? {}
          : {
              budget: { per_repo_daily_usd: dailyUsd },
              model_catalog: { overrides: { "fake/fake": { cost: { input: 2, output: 10 } } } }
            })
      },
      queue: { ...base.queue, ...(defaultRetry ? { retry: {} } : {}), kind: queue },
      storage: {
        ...base.storage,
        database: { kind: "postgres", postgres: { url_env: "TEST_POSTGRES" } },
        cache: { redis: { url_env: "TEST_REDIS" } }
      }
    }
  }
}

/** Another host than that of the demo is one of the tests. */
const startHost = (kind: ForgeKind, options: DemoForgeOptions): Promise<DemoForge> =>
  kind === "gitea" ? startDemoForge(options) : startFakeForge(kind, options)

const triggerOf = ({ port }: Pick<PerforceDepot, "port">) => ({
  name: "depot",
  kind: "perforce",
  port,
  user: p4User,
  password_env: "TEST_PASSWORD",
  depot_path: "//Ace/..."
})

/** Whether a request writes content that people are notified of, or see. */
const isContentWrite = ({ method, path }: ApiRequest): boolean =>
  method !== "GET" && /\/(reviews|comments|comments\/\d+)$/.test(path)
