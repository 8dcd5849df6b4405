/** Starts an agent CLI in its sandbox, and reads its output until it ends or is ended. */
import { Effect, Redacted, Stream } from "effect"
import type { Scope } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import { Sandboxes } from "../../sandbox/Sandbox.ts"
import type { SandboxError, SandboxPaths, SandboxProcess, SandboxProgram } from "../../sandbox/Sandbox.ts"
import { toSandboxLimits } from "../../sandbox/SandboxLimits.ts"
import type { AgentProgram } from "./AgentPrograms.ts"
import type { OpenToolServer } from "../mcp/ToolServer.ts"
import type { OpenModelProxy } from "../proxy/ModelProxy.ts"
import { AgentError } from "../Agent.ts"
import type { AgentCli, CliNews, CliSetup } from "./Cli.ts"
import { isRecord } from "./Cli.ts"
import { commonEnvironment, homeFolder, settingsFolder, workFolder } from "./CliEnvironment.ts"

export interface CliRun {
  readonly cli: AgentCli
  readonly program: AgentProgram
  readonly workspace: Pick<Workspace, "agent" | "sandbox">
  readonly system: string
  readonly prompt: string
  readonly toolNames: ReadonlyArray<string>
  /** Maximum time of a call of a tool. */
  readonly callSeconds: number
  readonly proxy: OpenModelProxy
  readonly tools: OpenToolServer
  readonly labels: { readonly run: string; readonly pass: string }
}

export const toAgentError = ({ reason, why }: SandboxError): AgentError =>
  new AgentError({ reason: reason === "failed" ? "retryable" : "failed", why })

/** Changes to an empty folder: CLIs read settings of the folder that they start in. */
const enter = 'mkdir -p "$1" "$2" && cd "$1" && shift 2 && exec "$@"'

/** Builds the program for the locations of a sandbox. */
export const cliProgram =
  ({ callSeconds, cli, program, prompt, proxy, system, toolNames, tools, workspace: { agent } }: CliRun) =>
  (paths: SandboxPaths): SandboxProgram => {
    const folders = { home: `${paths.scratch}/${homeFolder}`, settings: `${paths.scratch}/${settingsFolder}` }
    const work = `${paths.scratch}/${workFolder}`
    const setup: CliSetup = {
      paths,
      folders,
      work,
      packages: program.packages,
      system,
      prompt,
      model: {
        name: proxy.model,
        token: Redacted.value(proxy.token),
        contextWindow: proxy.contextWindow,
        maxOutputTokens: proxy.maxOutputTokens
      },
      tools: { path: tools.path, token: Redacted.value(tools.token), names: toolNames, callSeconds },
      agent
    }
    const { args, environment, files, stdin } = cli.program(setup)
    return {
      command: "/bin/sh",
      args: ["-c", enter, "sh", work, folders.home, ...program.command, ...args],
      environment: { ...commonEnvironment(folders, paths.scratch), ...environment },
      stdin,
      files
    }
  }

/**
 * The agent gets no files of the repository: it reads them with its tools, which remove secrets and keep to `review.fetch_extra`, and
 * settings among them cannot take effect.
 */
export const startCli = Effect.fnUntraced(function* (
  run: CliRun
): Effect.fn.Return<SandboxProcess, AgentError, Sandboxes | Scope.Scope> {
  const { labels, program, proxy, tools, workspace } = run
  return yield* (yield* Sandboxes)
    .start(workspace.sandbox, {
      labels,
      program: cliProgram(run),
      installation: program.installation,
      limits: toSandboxLimits({ sandbox: workspace.sandbox, timeout_seconds: workspace.agent.timeout_seconds }),
      sockets: { model: proxy.socket, tools: tools.socket }
    })
    .pipe(Effect.mapError(toAgentError))
})

/** Reads a line of output; undefined if it is none of the CLI's events, for example text of a wrapper. */
export const readLine = (cli: AgentCli, line: string): CliNews | undefined => {
  if (!line.startsWith("{")) return undefined
  try {
    const event: unknown = JSON.parse(line)
    return isRecord(event) ? cli.read(event) : undefined
  } catch {
    // A line that was cut, or text that is no JSON.
    return undefined
  }
}

/** Reads the output to its end. */
export const readOutput = (
  cli: AgentCli,
  { lines }: SandboxProcess,
  onNews: (news: CliNews) => Effect.Effect<void>
): Effect.Effect<void> =>
  Stream.runForEach(lines, (line) => {
    const news = readLine(cli, line)
    return news === undefined ? Effect.void : onNews(news)
  })
