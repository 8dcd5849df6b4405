/**
 * The real process with a configuration of only those fields that have no default, a git host with real repositories, and a
 * timed model. Reviews are timed from the webhook to the response of the host that takes the comments.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { stringify } from "yaml"
import { startDemoForge } from "../../demo/DemoForge.ts"
import type { DemoForge } from "../../demo/DemoForge.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { AicrProcess } from "./AicrProcess.ts"
import { freePort } from "./FreePort.ts"
import { baseFiles, changedFiles } from "./GeneratedChanges.ts"
import type { ChangeSize } from "./GeneratedChanges.ts"
import { secret, listStates, makeToken } from "./Installation.ts"
import { startTimedModel } from "./TimedModel.ts"
import type { TimedModel, TimedModelOptions } from "./TimedModel.ts"

export interface TimedInstallationOptions {
  readonly model: TimedModelOptions
  /** Files of the base branch of each repository. */
  readonly baseFiles: number
  /** Repositories, each with a workspace and a token of its own. Default: one. */
  readonly repositories?: number
  /** Further fields of the provider. */
  readonly provider?: Readonly<Record<string, unknown>>
  /** Further namespaces of the configuration. */
  readonly document?: Readonly<Record<string, unknown>>
}

const ended: ReadonlySet<string | undefined> = new Set(["success", "failure", "error", "warning"])

const repositoryName = (index: number): string => `team/repository-${index}`

export class TimedInstallation implements AsyncDisposable {
  readonly aicr: AicrProcess
  readonly forge: DemoForge
  readonly model: TimedModel
  readonly #directory: string
  /** Time at which the host accepted the newest review of a pull request, by `owner/name/number`. */
  readonly #postedAt: ReadonlyMap<string, number>

  private constructor(
    parts: Pick<TimedInstallation, "aicr" | "forge" | "model">,
    directory: string,
    postedAt: ReadonlyMap<string, number>
  ) {
    this.aicr = parts.aicr
    this.forge = parts.forge
    this.model = parts.model
    this.#directory = directory
    this.#postedAt = postedAt
  }

  static async start(options: TimedInstallationOptions): Promise<TimedInstallation> {
    const names = Array.from({ length: options.repositories ?? 1 }, (_, index) => repositoryName(index))
    const directory = await mkdtemp(join(tmpdir(), "aicr-timed-"))
    await mkdir(join(directory, "forge"))
    const url = `http://127.0.0.1:${await freePort()}`
    const postedAt = new Map<string, number>()
    const forge = await startDemoForge({
      directory: join(directory, "forge"),
      token: makeToken(0),
      accounts: Object.fromEntries(names.map((_, index) => [makeToken(index), "aicr"])),
      secret,
      webhookUrl: `${url}/webhooks/gitea`,
      onAnswer: ({ method, path }, { status }) => {
        const [, name] = /\/repos\/(.+)\/reviews$/.exec(path) ?? []
        if (method === "POST" && name !== undefined && status < 300) postedAt.set(name, performance.now())
      }
    })
    for (const name of names) {
      await forge.createRepository(name)
      await forge.push(name, {
        branch: "main",
        message: "Start",
        files: { "README.md": "# Start\n", ...baseFiles(options.baseFiles) }
      })
    }
    const model = await startTimedModel(options.model)
    const configFile = join(directory, "config.yaml")
    await writeFile(configFile, stringify(documentFor(options, names, { directory, url, forge, model })))
    const env = Object.fromEntries(names.map((_, index) => [`TEST_TOKEN_${index}`, makeToken(index)]))
    const aicr = new AicrProcess({ configFile, url, env: { ...env, TEST_SECRET: secret, SVC_LOG_LEVEL: "info" } })
    await aicr.start()
    return new TimedInstallation({ aicr, forge, model }, directory, postedAt)
  }

  /** Opens a pull request with a change of this size, without a delivery. */
  async open(name: string, size: ChangeSize, repository = 0): Promise<DemoPull> {
    const files = changedFiles(size)
    const fullName = repositoryName(repository)
    await this.forge.push(fullName, { branch: name, from: "main", message: `Add ${name}`, files })
    return this.forge.createPull(fullName, { headBranch: name, title: `Add ${name}` })
  }

  postedAt(pull: DemoPull): number | undefined {
    return this.#postedAt.get(`${pull.repository.fullName}/pulls/${pull.number}`)
  }

  /** Returns whether the newest head has its last status and no call to the model runs. */
  hasEnded(pull: DemoPull): boolean {
    return ended.has(listStates(pull).at(-1)) && this.model.calls.every(({ outcome }) => outcome !== "running")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.aicr[Symbol.asyncDispose]()
    await this.forge.stop()
    await this.model[Symbol.asyncDispose]()
    await rm(this.#directory, { recursive: true, force: true })
  }
}

const documentFor = (
  { provider, document }: TimedInstallationOptions,
  names: ReadonlyArray<string>,
  parts: { readonly directory: string; readonly url: string; readonly forge: DemoForge; readonly model: TimedModel }
) => ({
  server: { port: Number(new URL(parts.url).port), hostname: "127.0.0.1" },
  triggers: names.map((_, index) => ({
    name: `host-${index}`,
    kind: "gitea",
    base_url: parts.forge.url,
    token_env: `TEST_TOKEN_${index}`,
    webhook_secret_env: "TEST_SECRET"
  })),
  workspaces: {
    root: join(parts.directory, "workspaces"),
    instances: Object.fromEntries(
      names.map((repo, index) => [`workspace-${index}`, { source_repo: { trigger: `host-${index}`, repo } }])
    )
  },
  llm: {
    providers: [
      { id: "timed", kind: "openai_compatible", base_url: `${parts.model.url}/v1`, api_key: "key", ...provider }
    ],
    model_chain: { default: [{ provider: "timed", model: "timed" }] }
  },
  agent: { default: "native-llm" },
  review: { output_language: "en" },
  storage: {
    database: { sqlite: { path: join(parts.directory, "aicr.db") } },
    object: { filesystem: { root: join(parts.directory, "objects") } }
  },
  ...document
})
