/**
 * A whole installation in a temporary folder: the real process, a git host with real repositories, and a model that
 * finds exactly one problem in every pull request: the marked line of the file that this pull request adds. So a
 * comment identifies the pull request it was written for, and a comment on the wrong one is detected.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { stringify } from "yaml"
import { startDemoForge } from "../../demo/DemoForge.ts"
import type { DemoForge, Fault } from "../../demo/DemoForge.ts"
import type { ApiRequest, DemoDialect } from "../../demo/DemoForgeDialect.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { AicrProcess } from "./AicrProcess.ts"
import { review, startFakeModel } from "./FakeModel.ts"
import type { FakeModel, Recorded } from "./FakeModel.ts"
import type { Reply } from "./FakeModelReply.ts"
import { freePort } from "./FreePort.ts"
import { isSummary } from "./Summaries.ts"
import { waitUntil } from "./Wait.ts"

export interface InstallationOptions {
  readonly queue: "memory" | "sqlite"
  /**
   * Repositories, each with one workspace and one trigger with a token of its own, so that writes are paced separately.
   * Default: `team/one`.
   */
  readonly repositories?: ReadonlyArray<string>
  /** Team of the workspaces. */
  readonly team?: string
  /** Further tokens of the same account, after those of the repositories. */
  readonly spareTokens?: number
  readonly concurrency?: number
  readonly perWorkspaceConcurrency?: number
  /** Default: that of the configuration. */
  readonly maxWaitingForModel?: number | undefined
  /** `triggers[].write_interval_ms`. Default: that of the host, which is none. */
  readonly writeIntervalMs?: number | undefined
  /** `triggers[].catch_up.every_seconds`. Default: that of the configuration. */
  readonly catchUpSeconds?: number
  /** Attempts at a review. Default: that of the configuration. */
  readonly attempts?: number
  /** Fields of the provider, and of `llm.retry`, in addition to the defaults of the tests. */
  readonly provider?: Readonly<Record<string, unknown>>
  readonly modelRetry?: Readonly<Record<string, unknown>>
  /** Fields of `llm.budget`. A million tokens of the model cost a dollar then. */
  readonly budget?: Readonly<Record<string, unknown>>
  /** Fields of `review`, in addition to the defaults of the tests. */
  readonly review?: Readonly<Record<string, unknown>>
  /** Fields of `agent`. Default: native-llm. */
  readonly agent?: Readonly<Record<string, unknown>>
  /** Kind of the triggers and of the channel of reviews. Default: Gitea. */
  readonly kind?: "gitea" | "github"
  /** `triggers[].app`, in place of tokens. */
  readonly app?: object | undefined
  /** Default: that of Gitea without CI. */
  readonly dialect?: DemoDialect
  /** Default: off. */
  readonly verification?: "auto" | "always"
  /** Records in this Postgres instead of a file. */
  readonly database?: string
  /** Channels in addition to that of reviews. */
  readonly channels?: ReadonlyArray<object>
  /** Rules of routes, before the default. */
  readonly rules?: ReadonlyArray<object>
  /** Fields of `server`, in addition to the defaults of the tests. */
  readonly server?: Readonly<Record<string, unknown>>
  /** The namespace `im`. */
  readonly im?: object
  /** Routes of notices. */
  readonly noticeRoutes?: ReadonlyArray<object>
  /** Variables of the process, in addition to those that the configuration names. */
  readonly env?: Readonly<Record<string, string>>
}

/** Hooks of a test into requests to the host's API. Both may be replaced at any time. */
export interface HostHooks {
  /** Runs before a request is processed. */
  onRequest: (request: ApiRequest) => Fault | undefined
  /** Runs after a request is processed, before the response is sent. */
  onAnswer: (request: ApiRequest) => void
}

/** Content of the service on a pull request. */
export interface Posted {
  /** Heads of our reviews, oldest first. */
  readonly reviews: ReadonlyArray<string>
  /** `path:line` of our inline comments. */
  readonly comments: ReadonlyArray<string>
  readonly summaries: number
}

export const makeToken = (index: number): string => `t0ken-of-the-reviewer-${index}`
export const secret = "s3cret-of-the-webhook"

/** The line that the model complains about, in the file that the pull request adds. */
export const markedLine = 2
export const toFilePath = (name: string): string => `src/${name}.ts`
export const renderContent = (name: string, version: number): string =>
  `export const first = ${version}\nexport const marked = "marker-${name}-end"\nexport const last = ${version}\n`

/** Names of the pull requests whose diff a request to the model holds. */
export const namesIn = (request: Recorded): ReadonlyArray<string> => [
  ...new Set([...request.text.matchAll(/marker-([a-z0-9-]+?)-end/g)].flatMap(([, name]) => name ?? []))
]

/** The correct reply of the model. */
export const honest = (request: Recorded): Reply =>
  review(
    namesIn(request).map((name) => ({
      file: toFilePath(name),
      line: markedLine,
      severity: "high",
      category: "bug",
      title: `Problem of ${name}`,
      message: `This line is wrong in ${name}.`,
      quote: `export const marked = "marker-${name}-end"`
    })),
    `Summary of ${namesIn(request).join(", ")}.`
  )

/** Returns the content of the service on a pull request. */
export const postedOn = (pull: DemoPull): Posted => {
  const ours = pull.reviews.filter((one) => one.user.login === "aicr")
  return {
    reviews: ours.map((one) => one.commit),
    comments: ours.flatMap((one) => one.comments.map(({ path, line }) => `${path}:${line}`)),
    summaries: pull.comments.filter((one) => one.user.login === "aicr").length + ours.filter(isSummary).length
  }
}

/** States of the commit status on the newest head, oldest first. */
export const listStates = (pull: DemoPull): ReadonlyArray<string> =>
  (pull.repository.statuses.get(pull.head) ?? []).map((status) => status.state)

export class Installation implements AsyncDisposable {
  readonly aicr: AicrProcess
  readonly forge: DemoForge
  readonly model: FakeModel
  readonly directory: string
  readonly host: HostHooks

  private constructor(parts: Pick<Installation, "aicr" | "forge" | "model" | "directory" | "host">) {
    this.aicr = parts.aicr
    this.forge = parts.forge
    this.model = parts.model
    this.directory = parts.directory
    this.host = parts.host
  }

  static async make(options: InstallationOptions): Promise<Installation> {
    const repositories = options.repositories ?? ["team/one"]
    const tokens = Array.from({ length: repositories.length + (options.spareTokens ?? 0) }, (_, index) => index)
    const directory = await mkdtemp(join(tmpdir(), "aicr-scenario-"))
    const host: HostHooks = { onRequest: () => undefined, onAnswer: () => {} }
    await mkdir(join(directory, "forge"))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const model = await startFakeModel(honest)
    const forge = await startDemoForge({
      directory: join(directory, "forge"),
      token: makeToken(0),
      accounts: Object.fromEntries(tokens.map((index) => [makeToken(index), "aicr"])),
      secret,
      webhookUrl: `${url}/webhooks/gitea`,
      dialect: options.dialect,
      onRequest: (request) => host.onRequest(request),
      onAnswer: (request) => host.onAnswer(request)
    })
    for (const repository of repositories) {
      await forge.createRepository(repository)
      await forge.push(repository, { branch: "main", message: "Start", files: { "README.md": "# Start\n" } })
    }
    const configFile = join(directory, "config.yaml")
    await writeFile(configFile, stringify(makeDocument(options, repositories, { directory, port, forge, model })))
    const env = {
      ...Object.fromEntries(tokens.map((index) => [`TEST_TOKEN_${index}`, makeToken(index)])),
      TEST_SECRET: secret,
      TEST_KEY: "key-of-the-model",
      ...(options.database === undefined ? {} : { TEST_DATABASE: options.database }),
      ...options.env
    }
    return new Installation({ aicr: new AicrProcess({ configFile, url, env }), directory, forge, host, model })
  }

  /** Opens a pull request that adds `src/<name>.ts`. Names are letters, digits and hyphens. */
  async open(name: string, repository = "team/one"): Promise<DemoPull> {
    await this.push(name, 1, repository)
    return this.forge.createPull(repository, { headBranch: name, title: `Add ${name}` })
  }

  /** Pushes the next version of the file; the pull request moves along. */
  push(name: string, version: number, repository = "team/one"): Promise<string> {
    return this.forge.push(repository, {
      branch: name,
      from: "main",
      message: `Version ${version}`,
      files: { [toFilePath(name)]: renderContent(name, version) }
    })
  }

  posted(pull: DemoPull): Posted {
    return postedOn(pull)
  }

  /** Waits until the newest head carries the status that is written last. */
  async reviewed(...pulls: ReadonlyArray<DemoPull>): Promise<void> {
    await waitUntil(() => pulls.every((pull) => listStates(pull).at(-1) === "success"), {
      timeout: 45_000 + pulls.length * 2000,
      describe: () =>
        `${pulls.map((pull) => `${pull.title}: ${JSON.stringify([this.posted(pull), listStates(pull)])}`).join("\n")}\nlog:\n${this.aicr.log}`
    })
  }

  /**
   * Waits until all work is complete: a pull request delivered now has been processed, which happens after everything
   * that was queued before it, and no record is unfinished. That pull request gets the "do not review" label once its
   * delivery is stored, so that it costs neither model calls nor comments.
   */
  async settled(): Promise<void> {
    for (const repository of this.forge.state.repositories.values()) {
      const fence = await this.open(`fence-${repository.pulls.size}`, repository.fullName)
      const sender = this.forge.user("dana")
      const delivery = this.forge.delivery({ kind: "pull", pull: fence, action: "opened", sender })
      this.forge.setLabels(fence, ["aicr:ignore"])
      const { body } = await this.forge.send(delivery)
      if (Object(body).accepted !== true) throw new Error(`the fence was not accepted: ${JSON.stringify(body)}`)
    }
    await waitUntil(() => this.unfinished().length === 0, {
      timeout: 60_000,
      interval: 50,
      describe: () => `still open: ${this.unfinished().join(", ")}; log:\n${this.aicr.log}`
    })
  }

  /** Lists unfinished records: accepted deliveries without an outcome, runs, publications. */
  unfinished(): ReadonlyArray<string> {
    const database = new DatabaseSync(join(this.directory, "aicr.db"), { readOnly: true })
    try {
      return [
        "SELECT 'delivery ' || id AS what FROM events WHERE work IS NOT NULL AND outcome IS NULL",
        "SELECT 'run ' || id AS what FROM runs WHERE status IN ('queued', 'preparing', 'analyzing', 'publishing')",
        "SELECT kind || ' ' || status AS what FROM publications WHERE status IN ('pending', 'sending', 'unknown')"
      ].flatMap((query) =>
        database
          .prepare(query)
          .all()
          .map((row) => String(row["what"]))
      )
    } finally {
      database.close()
    }
  }

  /** Requests to the model about this pull request. */
  countModelCalls(name: string): number {
    return this.model.requests.filter((request) => namesIn(request).includes(name)).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.aicr[Symbol.asyncDispose]()
    await this.forge.stop()
    await this.model.close()
    await rm(this.directory, { recursive: true, force: true })
  }
}

/** The configuration of an installation, as the YAML document of one node. */
export const makeDocument = (
  options: InstallationOptions,
  repositories: ReadonlyArray<string>,
  parts: {
    readonly directory: string
    readonly port: number
    readonly forge: DemoForge
    readonly model: FakeModel
  }
) => ({
  server: { port: parts.port, hostname: "127.0.0.1", ...options.server },
  triggers: repositories.map((_, index) => ({
    name: `host-${index}`,
    kind: options.kind ?? "gitea",
    base_url: parts.forge.url,
    ...(options.app === undefined ? { token_env: `TEST_TOKEN_${index}` } : { app: options.app }),
    webhook_secret_env: "TEST_SECRET",
    ...(options.writeIntervalMs === undefined ? {} : { write_interval_ms: options.writeIntervalMs }),
    ...(options.catchUpSeconds === undefined ? {} : { catch_up: { every_seconds: options.catchUpSeconds } })
  })),
  workspaces: {
    root: join(parts.directory, "workspaces"),
    instances: Object.fromEntries(
      repositories.map((repo, index) => [
        repo.replace("/", "-"),
        {
          source_repo: { trigger: `host-${index}`, repo },
          ...(options.team === undefined ? {} : { team: options.team })
        }
      ])
    )
  },
  outputs: {
    channels: [{ name: "review", kind: `${options.kind ?? "gitea"}_pr_review` }, ...(options.channels ?? [])],
    routes: { default: { line_comments: ["review"], summary: ["review"] }, rules: options.rules ?? [] },
    ...(options.noticeRoutes === undefined ? {} : { notifications: { routes: options.noticeRoutes } })
  },
  llm: {
    providers: [
      {
        id: "fake",
        kind: "openai_compatible",
        base_url: `${parts.model.url}/v1`,
        api_key_env: "TEST_KEY",
        ...options.provider
      }
    ],
    model_chain: { default: [{ provider: "fake", model: "fake" }] },
    retry: { max_attempts: 1, ...options.modelRetry },
    ...(options.budget === undefined
      ? {}
      : {
          budget: options.budget,
          model_catalog: { overrides: { "fake/fake": { cost: { input: 1, output: 1 } } } }
        })
  },
  agent: { default: "native-llm", ...options.agent },
  ...(options.im === undefined ? {} : { im: options.im }),
  review: { output_language: "en", verification: options.verification ?? "off", ...options.review },
  queue: {
    kind: options.queue,
    sqlite: { path: join(parts.directory, "queue.db") },
    workers: {
      concurrency: options.concurrency ?? 4,
      per_workspace_concurrency: options.perWorkspaceConcurrency ?? 1,
      max_waiting_for_model: options.maxWaitingForModel ?? 16
    },
    retry: {
      ...(options.attempts === undefined ? {} : { attempts: options.attempts }),
      backoff: { kind: "constant", base_ms: 50, max_ms: 50, jitter: false }
    }
  },
  storage: {
    database:
      options.database === undefined
        ? { sqlite: { path: join(parts.directory, "aicr.db") } }
        : { kind: "postgres", postgres: { url_env: "TEST_DATABASE" } },
    object: { filesystem: { root: join(parts.directory, "objects") } }
  }
})
