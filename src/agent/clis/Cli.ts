/**
 * Contract of a row of the table of agent CLIs: which program it is, how a run is set up, and how its output is read. A row is pure data and
 * functions; `CliAgents.ts` runs it. Every CLI starts in an empty folder, with a home, settings and an environment of its own, so that neither
 * the settings of this machine nor files of the reviewed change apply. It has the tools of the review alone (`mcp/ToolServer.ts`).
 */
import type { Reason } from "../../domain/Reason.ts"
import type { AgentConfig } from "../../config/schema/Agent.ts"
import type { SandboxFile, SandboxPaths } from "../../sandbox/Sandbox.ts"
import type { WireFormat } from "../proxy/ModelProxy.ts"
import { everyProvider } from "../search/SearchChain.ts"
import type { SearchReach } from "../search/SearchChain.ts"
import { searchToolName } from "../tools/SearchTool.ts"

/** Name of the tool server in the settings of a CLI. */
export const serverName = "review"

/** Folders inside of the scratch folder. */
export interface CliFolders {
  readonly home: string
  /** Settings and state of the CLI. */
  readonly settings: string
}

/** The facts of one run that a row needs. */
export interface CliSetup {
  readonly paths: SandboxPaths
  /** Absolute paths. */
  readonly folders: CliFolders
  /** Empty working folder of the CLI. */
  readonly work: string
  /** Folder of the packages. */
  readonly packages: string
  readonly system: string
  readonly prompt: string
  readonly model: {
    readonly name: string
    readonly token: string
    readonly contextWindow: number | undefined
    readonly maxOutputTokens: number | undefined
  }
  readonly tools: {
    readonly path: string
    readonly token: string
    readonly names: ReadonlyArray<string>
    /** Maximum time of a call. */
    readonly callSeconds: number
  }
  readonly agent: AgentConfig
}

/** The program without its command, which depends on the installation. */
export interface CliProgram {
  readonly args: ReadonlyArray<string>
  /** Variables in addition to the common ones of `CliEnvironment.ts`. */
  readonly environment: Readonly<Record<string, string>>
  readonly stdin?: string | undefined
  readonly files: ReadonlyArray<SandboxFile>
}

/** The meaning of one line of output. */
export interface CliNews {
  /** Text of the model, for logs. */
  readonly text?: string | undefined
  /** A failure, for the report if the pass has no result. */
  readonly error?: string | undefined
}

/** Support of optional parts of `agent`. A reason is a clause for a warning. */
interface CliSupport {
  /** The reason why `auto_approve: false` changes nothing. */
  readonly approval?: Reason
  readonly compaction?: { readonly auto?: Reason; readonly threshold?: Reason; readonly prune?: Reason }
  /**
   * `model`: the provider of the model searches. `service`: this service does, with the tool `web_search` in place of the CLI's own search,
   * which is off: that one needs a network and credentials inside of the sandbox.
   */
  readonly webSearch:
    | { readonly by: "model" }
    | { readonly by: "service"; readonly reach: SearchReach }
    | { readonly by: "none" }
}

export const searchedByService: CliSupport["webSearch"] = { by: "service", reach: everyProvider }

export interface AgentCli {
  /** Package of npm; undefined if no release exists there. */
  readonly package: string | undefined
  /** Version that the settings were tested with. Versions with the same first two numbers are expected to work. */
  readonly tested: string
  /** Further packages with versions, for example a runtime. */
  readonly companions: ReadonlyArray<string>
  /** `tarball`: the package contains all it needs and its dependencies cannot all be installed. */
  readonly install: "npm" | "tarball"
  /** The program and its first arguments, relative to the folder of packages. `node` is that of the sandbox. */
  readonly command: (platform: string) => ReadonlyArray<string>
  readonly format: WireFormat
  readonly support: CliSupport
  readonly program: (setup: CliSetup) => CliProgram
  /** Reads a line of JSON. Text of the program: untrusted. */
  readonly read: (event: CliEvent) => CliNews | undefined
}

export type CliEvent = Readonly<Record<string, unknown>>

export const modelUrl = ({ paths }: CliSetup): string => `http://127.0.0.1:${paths.modelPort}`
export const toolsUrl = ({ paths, tools }: CliSetup): string => `http://127.0.0.1:${paths.toolsPort}${tools.path}`
/** Whether the tool `web_search` of this service is offered. */
export const offersSearch = ({ tools }: CliSetup): boolean => tools.names.includes(searchToolName)
export const bearer = ({ tools }: CliSetup): string => `Bearer ${tools.token}`

/** Returns the path of a file of `files`, which are relative to the scratch folder, inside of the sandbox. */
export const inScratch = ({ paths }: CliSetup, path: string): string => `${paths.scratch}/${path}`

/** A file of JSON. */
export const jsonFile = (path: string, value: unknown): SandboxFile => ({
  path,
  text: JSON.stringify(value, undefined, 2)
})

/** Tokens at which compaction starts; undefined without a threshold or with an unknown context window. */
export const compactionTokens = ({ agent, model }: CliSetup): number | undefined => {
  const { threshold_percent: percent } = agent.context_compaction
  return percent === undefined || model.contextWindow === undefined
    ? undefined
    : Math.floor((model.contextWindow * percent) / 100)
}

/** Context window where the catalog has none: a usual one, so that a CLI compacts before the provider refuses. */
export const assumedWindow = 128_000
/** Output limit where the catalog has none. */
export const assumedOutput = 16_000

export const isRecord = (value: unknown): value is CliEvent =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the value below `path` of an event. */
export const at = (event: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), event)

export const textAt = (event: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  const value = at(event, ...path)
  return typeof value === "string" ? value : undefined
}
