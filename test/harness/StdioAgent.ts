/** A coding agent that uses `aicr mcp` over stdio: a process, and calls of its tools. */
import { execFile, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { programFolder } from "./AicrProcess.ts"

const node = join(programFolder, "node_modules/.bin/node")
const flags = ["--disable-warning=ExperimentalWarning", "src/main.mjs"]

/** Runs a command; returns what it prints. */
export const runAicr = async (args: ReadonlyArray<string>): Promise<string> => {
  const options = { cwd: programFolder, env: { PATH: process.env["PATH"] } }
  return (await promisify(execFile)(node, [...flags, ...args], options)).stdout.trim()
}

interface Called {
  readonly isError: boolean
  readonly text: string
  readonly result: Record<string, unknown>
}

export class StdioAgent implements AsyncDisposable {
  readonly #child: ReturnType<typeof spawn>
  readonly #waiting = new Map<number, (message: Record<string, unknown>) => void>()
  #id = 0
  #errors = ""

  private constructor(url: string, token: string) {
    this.#child = spawn(node, [...flags, "mcp"], {
      cwd: programFolder,
      stdio: "pipe",
      env: { PATH: process.env["PATH"], AICR_URL: url, AICR_TOKEN: token }
    })
    this.#child.stderr?.on("data", (text) => (this.#errors += String(text)))
    const { stdout } = this.#child
    if (stdout === null) throw new Error("the process has no output")
    createInterface(stdout).on("line", (line) => {
      const message: Record<string, unknown> = Object(JSON.parse(line))
      this.#waiting.get(Number(message["id"]))?.(message)
    })
  }

  /** Starts the process and shakes hands. */
  static async start(url: string, token: string): Promise<StdioAgent> {
    const agent = new StdioAgent(url, token)
    const clientInfo = { name: "test", version: "1" }
    await agent.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
    agent.#write({ method: "notifications/initialized" })
    return agent
  }

  /** Output of the process in addition to messages. */
  get errors(): string {
    return this.#errors
  }

  #write(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  }

  request(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#id
    return new Promise((done) => {
      this.#waiting.set(id, done)
      this.#write({ id, method, params })
    })
  }

  async call(name: string, input: object): Promise<Called> {
    const { error, result } = await this.request("tools/call", { name, arguments: input })
    const { content, isError = true, structuredContent } = Object(result)
    const text: unknown = Array.isArray(content) ? Object(content[0]).text : Object(error).message
    return { isError, text: String(text), result: Object(structuredContent) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end()
    await new Promise((done) => this.#child.once("exit", done))
  }
}
