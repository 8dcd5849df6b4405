/** A program that reviews pull requests of one host with a model that responds immediately, and the processor time that it uses. */
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { stringify } from "yaml"
import type { DemoForge } from "../../../demo/DemoForge.ts"
import { AicrProcess } from "../../harness/AicrProcess.ts"
import { freePort } from "../../harness/FreePort.ts"
import { waitUntil } from "../../harness/Wait.ts"

export const token = "t0ken"
export const secret = "s3cret"
export const repository = "team/shop"
/** The line that the model reports, in the first file of each change. */
export const quote = "export const marked = divide(total, 0)"

/** Lines of the block in each file of a change, by the number of files. */
export const sizes = { 1: 21, 12: 52, 60: 83 } as const
export type Size = keyof typeof sizes

/** A block that changes what the file exports. */
const makeBlock = (lines: number, serial: number): string =>
  [
    quote,
    `export const added = (total: number): number => {`,
    ...Array.from({ length: lines - 4 }, (_, at) => `  const step${at} = total * ${serial} + ${at}`),
    `  return total + step${lines - 5}`,
    "}",
    ""
  ].join("\n")

/** The first definition of a file is exported with another parameter, so that the uses of its name are searched. */
const alter = (text: string): string => text.replace(/^(export const \w+ = \()/m, "$1changed = 0, ")

/** The entry of the program, now and in older commits. */
const entries = ["src/main.mjs", "src/main.ts"]

export class MeasuredService implements AsyncDisposable {
  readonly #forge: DemoForge
  readonly #files: ReadonlyMap<string, string>
  readonly #process: AicrProcess
  readonly #name: string
  #serial = 0

  private constructor(name: string, forge: DemoForge, files: ReadonlyMap<string, string>, process: AicrProcess) {
    this.#name = name
    this.#forge = forge
    this.#files = files
    this.#process = process
  }

  static async start(
    name: string,
    program: string,
    parts: {
      readonly directory: string
      readonly forge: DemoForge
      readonly files: ReadonlyMap<string, string>
      readonly modelUrl: string
    }
  ): Promise<MeasuredService> {
    const folder = join(parts.directory, name)
    await mkdir(folder)
    const port = await freePort()
    const configFile = join(folder, "config.yaml")
    await writeFile(
      configFile,
      stringify({
        server: { port, hostname: "127.0.0.1" },
        llm: {
          providers: [{ id: "fake", kind: "openai_compatible", base_url: `${parts.modelUrl}/v1`, api_key: "x" }],
          model_chain: { default: [{ provider: "fake", model: "m" }] }
        },
        triggers: [{ name: "forge", kind: "gitea", base_url: parts.forge.url, token, webhook_secret: secret }],
        workspaces: {
          root: join(folder, "workspaces"),
          instances: { shop: { source_repo: { trigger: "forge", repo: repository } } }
        },
        agent: { default: "native-llm" },
        review: { verification: "off" },
        storage: {
          database: { sqlite: { path: join(folder, "aicr.db") } },
          object: { filesystem: { root: join(folder, "objects") } }
        }
      })
    )
    const url = `http://127.0.0.1:${port}`
    const service = new AicrProcess({ configFile, url, env: { SVC_LOG_LEVEL: "info" } })
    service.setProgram(
      program,
      entries.find((entry) => existsSync(join(program, entry)))
    )
    await service.start()
    return new MeasuredService(name, parts.forge, parts.files, service)
  }

  processorMillis(): Promise<number> {
    return this.#process.processorMillisOfAll()
  }

  /** Returns the processor time of one review, from the delivery until half a second after the final status. */
  async review(size: Size): Promise<number> {
    const serial = ++this.#serial
    const branch = `${this.#name}-${size}-${serial}`
    const block = makeBlock(sizes[size], serial)
    const changed = [...this.#files].slice(0, size).map(([path, text]) => [path, `${alter(text)}\n${block}`] as const)
    await this.#forge.push(repository, { branch, from: "main", message: branch, files: Object.fromEntries(changed) })
    const pull = await this.#forge.createPull(repository, { title: branch, headBranch: branch })
    this.#forge.setWebhookUrl(`${this.#process.url}/webhooks/gitea`)
    const before = await this.processorMillis()
    await this.#forge.notify(pull, "opened")
    const states = () => pull.repository.statuses.get(pull.head)?.map(({ state }) => state) ?? []
    await waitUntil(() => states().at(-1) === "success", {
      timeout: 120_000,
      describe: () =>
        `${branch} is reviewed, its states are ${states().join(", ")}; the log:\n${this.#process.log.slice(-5000)}`
    })
    await new Promise((resolve) => setTimeout(resolve, 500))
    return (await this.processorMillis()) - before
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#process[Symbol.asyncDispose]()
  }
}
