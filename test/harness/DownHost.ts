/** A service that stops while changes are made at its host. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { stringify } from "yaml"
import type { DemoPull, NewPull } from "../../demo/DemoForgeState.ts"
import { AicrProcess } from "./AicrProcess.ts"
import { grantChecks } from "./FakeChecks.ts"
import { makeHostTrigger, startFakeForge } from "./FakeForge.ts"
import type { FakeForge } from "./FakeForge.ts"
import { review, startFakeModel } from "./FakeModel.ts"
import type { FakeModel } from "./FakeModel.ts"
import { freePort } from "./FreePort.ts"
import { waitUntil } from "./Wait.ts"

const repository = "team/one"

interface DownHostOptions {
  /** Further fields of the trigger and of the reviews. */
  readonly trigger?: object
  readonly review?: object
  /** Further fields of the server. */
  readonly server?: object
  /** The workspace. Default: that of one repository. */
  readonly workspace?: object
  readonly outputs?: object
  readonly env?: Readonly<Record<string, string>>
  /** Whether the installation of the app may write check runs. */
  readonly mayWriteChecks?: boolean
  /** Called before the first start. */
  readonly before?: (open: (name: string) => Promise<DemoPull>) => Promise<void>
}

const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

/** Returns a schedule whose only window is an hour in three days. */
export const closedWindow = () => ({
  timezone: "UTC",
  rules: [{ days: [days[(new Date().getUTCDay() + 3) % 7]], windows: [{ start: "01:00", end: "02:00" }] }]
})

/** A service with one repository of a fake host, and what happens there. */
export class DownHost implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack()
  readonly forge: FakeForge
  readonly aicr: AicrProcess
  readonly model: FakeModel
  readonly #directory: string
  /** Writes the configuration with these fields. */
  readonly configure: (options: Pick<DownHostOptions, "review" | "workspace">) => Promise<void>

  private constructor(
    { aicr, forge, model }: Pick<DownHost, "aicr" | "forge" | "model">,
    directory: string,
    configure: DownHost["configure"]
  ) {
    this.forge = forge
    this.aicr = aicr
    this.model = model
    this.#directory = directory
    this.configure = configure
  }

  static async start(kind: FakeForge["kind"], options: DownHostOptions = {}): Promise<DownHost> {
    const directory = await mkdtemp(join(tmpdir(), "aicr-catch-up-"))
    const forge = await startFakeForge(kind)
    grantChecks(forge, options.mayWriteChecks ?? false)
    const model = await startFakeModel(review([], "No problems."))
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const configFile = join(directory, "config.yaml")
    const configure: DownHost["configure"] = ({ review: reviews, workspace = options.workspace }) =>
      writeFile(
        configFile,
        stringify({
          server: { port, hostname: "127.0.0.1", ...options.server },
          triggers: [{ ...makeHostTrigger(kind, forge.url), ...options.trigger }],
          workspaces: { instances: { one: workspace ?? { source_repo: { trigger: "host", repo: repository } } } },
          llm: {
            providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
            model_chain: { default: [{ provider: "fake", model: "fake" }] }
          },
          agent: { default: "native-llm" },
          queue: { kind: "sqlite", sqlite: { path: "queue.db" }, workers: { per_workspace_concurrency: 4 } },
          review: { output_language: "en", skip_drafts: true, ...reviews },
          ...(options.outputs === undefined ? {} : { outputs: options.outputs }),
          storage: { database: { sqlite: { path: "aicr.db" } }, object: { filesystem: { root: "objects" } } }
        })
      )
    await configure(options)
    const aicr = new AicrProcess({
      configFile,
      url,
      env: { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret, ...options.env }
    })
    const host = new DownHost({ aicr, forge, model }, directory, configure)
    host.#parts.defer(() => rm(directory, { recursive: true, force: true }))
    host.#parts.use(model)
    host.#parts.defer(forge.stop)
    host.#parts.use(aicr)
    await forge.createRepository(repository)
    await forge.push(repository, { branch: "main", message: "Start", files: { "a.ts": "export const a = 1\n" } })
    forge.setPermission(repository, "dana", "write")
    await options.before?.((name) => host.open(name))
    await aicr.start()
    forge.setWebhookUrl(`${url}/webhooks/${kind}`)
    return host
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync()
  }

  async open(name: string, draft = false, more: Partial<NewPull> = {}): Promise<DemoPull> {
    await this.push(name, 1, { from: "main" })
    return this.forge.createPull(repository, { title: name, headBranch: name, draft, ...more })
  }

  push(branch: string, version: number, more: { readonly from?: string; readonly force?: boolean } = {}) {
    const files = { [`${branch}.ts`]: `export const version = ${version}\n` }
    return this.forge.push(repository, { branch, message: `${branch} ${version}`, files, ...more })
  }

  #query(sql: string): ReadonlyArray<Record<string, unknown>> {
    const database = new DatabaseSync(join(this.#directory, "aicr.db"), { readOnly: true })
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  }

  /** Returns the runs of a head by status. */
  runs(): ReadonlyMap<string, ReadonlyArray<string>> {
    const byHead = Map.groupBy(this.#query("SELECT head, status FROM runs ORDER BY id"), ({ head }) => String(head))
    return new Map([...byHead].map(([head, runs]) => [head, runs.map(({ status }) => String(status))]))
  }

  /** Returns when the last search for missed changes ended, in milliseconds since the epoch; 0 before the first one. */
  searchedAt(): number {
    const [search] = this.#query("SELECT searched_at FROM catch_ups")
    return Number(search?.["searched_at"] ?? 0)
  }

  isReviewed(pull: DemoPull): boolean {
    return pull.repository.statuses.get(pull.head)?.at(-1)?.state === "success"
  }

  async waitForReviews(pulls: ReadonlyArray<DemoPull>): Promise<void> {
    await waitUntil(() => pulls.every((pull) => this.isReviewed(pull)), {
      timeout: 60_000 + pulls.length * 3000,
      describe: () =>
        `${pulls.filter((pull) => !this.isReviewed(pull)).map(({ title }) => title)} are reviewed; the log says:\n${this.aicr.log}`
    })
  }
}
